<?php
use PHPUnit\Framework\TestCase;

final class SmallTest extends TestCase
{
    public function testOne(): void { $this->assertTrue(true); }
    public function testTwo(): void { $this->assertTrue(true); }
}
