use Test::More skip_all => 'not on this machine (really)';
