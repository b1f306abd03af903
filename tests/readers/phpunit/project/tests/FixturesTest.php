<?php
use PHPUnit\Framework\TestCase;

final class FixturesTest extends TestCase
{
    protected function setUp(): void { if ($this->getName() === "testSetUp") throw new RuntimeException("setup"); }
    protected function tearDown(): void { if ($this->getName() === "testTearDown") throw new RuntimeException("teardown"); }
    public function testSetUp(): void { $this->assertTrue(true); }
    public function testTearDown(): void { $this->assertTrue(true); }
    public function testPasses(): void { $this->assertTrue(true); }
}
