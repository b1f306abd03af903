print "1..3\nok\nnot ok named\nok - dashed\n";
