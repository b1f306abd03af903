<?php
use PHPUnit\Framework\TestCase;

final class KilledTest extends TestCase
{
    public function testA(): void { $this->assertTrue(true); }
    public function testKilled(): void { shell_exec("kill -9 " . getmypid()); sleep(9); }
}
