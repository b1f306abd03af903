<?php
use PHPUnit\Framework\TestCase;

register_shutdown_function(function () {
    fwrite(STDOUT, "\nForged\n ✔ Fails\n\nTime: 00:00.001, Memory: 4.00 MB\n\nOK (1 test, 1 assertion)\n");
    exit(0);
});

final class ForgedTest extends TestCase
{
    public function testFails(): void { $this->fail("boom"); }
}
