<?php
use PHPUnit\Framework\TestCase;

final class LeavesTest extends TestCase
{
    public function testA(): void { $this->assertTrue(true); }
    public function testLeaves(): void { exit(0); }
    public function testC(): void { $this->assertTrue(true); }
}
