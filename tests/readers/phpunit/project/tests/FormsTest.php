<?php
// Every kind of result and of name that PHPUnit has.
namespace Demo;

use PHPUnit\Framework\TestCase;

final class FormsTest extends TestCase
{
    public function testPasses(): void { $this->assertTrue(true); }
    public function testFails(): void { $this->assertSame(1, 2); }
    public function testErrors(): void { throw new \RuntimeException("went wrong"); }
    public function testSkipped(): void { $this->markTestSkipped("no reason (really)"); }
    public function testIncomplete(): void { $this->markTestIncomplete("later"); }
    public function testRisky(): void {}
    public function testWarning(): void { $this->addWarning("careful"); $this->assertTrue(true); }
    public function testÜnicode(): void { $this->assertTrue(true); }
    public function test_with_underscores_99(): void { $this->assertTrue(true); }

    /** @testdox has a sentence of its own: ✘ or not */
    public function testDox(): void { $this->assertTrue(true); }

    /** @dataProvider rows */
    public function testData(string $x): void { $this->assertSame("a b", $x); }

    /** @dataProvider same */
    public function testSame(int $x): void { $this->assertSame(1, $x); }

    /** @depends testFails */
    public function testDepends(): void { $this->assertTrue(true); }

    public static function rows(): array
    {
        return ["blanks  [x]" => ["a b"], "quo\"te 'q'" => ["a b"], "Unicode é☃" => ["a b"],
            "control \x01\e[31m" => ["x"], "(FAILED)" => ["a b"], "#1 with" => ["x"], 0 => ["a b"]];
    }

    public static function same(): array { return [[1], [1], [2]]; }
}
