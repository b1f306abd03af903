print "nothing here\n";
