print "1..3\nok 1 - one\nok 2 - two\nok 2 - two again\n";
