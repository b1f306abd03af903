<?php
use PHPUnit\Framework\TestCase;

final class LoadTest extends NoSuchClass
{
}
