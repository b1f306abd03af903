<?php
// What a test prints, and names of two lines.
use PHPUnit\Framework\TestCase;

final class ForgeTest extends TestCase
{
    public function testPrintsLine(): void
    {
        echo " ✔ Not there\n";
        fwrite(STDOUT, " ✔ Not there either\nTest 'ForgeTest::testGone' started\n");
        $this->assertTrue(true);
    }

    public function testPartial(): void { fwrite(STDOUT, "partial"); $this->assertTrue(true); }
    public function testPartialFails(): void { fwrite(STDERR, "partial"); $this->fail("boom"); }

    /** @dataProvider rows */
    public function testData(string $x): void { $this->assertSame("a b", $x); }

    public static function rows(): array { return ["two\nlines" => ["x"], "two\nmore" => ["a b"]]; }
}
