<?php
use PHPUnit\Framework\TestCase;

final class HangsTest extends TestCase
{
    public function testA(): void { $this->assertTrue(true); }
    public function testHangs(): void { sleep(1000); }
}
