#!/usr/bin/env bash
# Maven with surefire 2.22 and JUnit 4 and 5 from Debian's repository of Maven artifacts, offline: the
# console, plain reports on the console, and the XML reports.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need mvn javac
for part in maven-surefire-plugin maven-resources-plugin maven-compiler-plugin; do
	[ -d /usr/share/maven-repo/org/apache/maven/plugins/$part ] || readers_skip "Debian's $part is not installed"
done
for part in junit/junit org/junit/jupiter/junit-jupiter; do
	[ -d /usr/share/maven-repo/$part ] || readers_skip "Debian's package of $part is not installed"
done
# Maven writes into its repository, so it gets links to Debian's files.
mvn="cp -rs /usr/share/maven-repo /tmp/repo && mvn -o -B -Dmaven.repo.local=/tmp/repo -Dstyle.color=never -Dsurefire.runOrder=alphabetical"
xml='*/target/surefire-reports/TEST-*.xml'
# The reports hold the properties of the machine.
keep="s=\$?; sed -i '/<properties>/,/<.properties>/d' $xml; exit \$s"
# shellcheck disable=SC2016 # the name of a nested class
four='PriceTest,CleanTest,CleanTest\$Inner,RowsTest,SetUpTest'
five='NamesTest,CleanFiveTest,SetUpFiveTest'
readers_log four "$mvn test -pl four -Dtest='$four'; $keep" "$xml"
readers_log five "$mvn test -pl five -Dtest='$five,NamesTest\$Deep'; $keep" "$xml"
readers_log five-console "$mvn test -pl five -Dtest='$five'"
readers_log four-console "$mvn test -pl four -Dtest='$four'"
readers_log plain "$mvn test -pl four -Dtest='$four' -Dsurefire.reportFormat=plain -Dsurefire.useFile=false"
readers_log plain-five "$mvn test -pl five -Dtest='$five' -Dsurefire.reportFormat=plain -Dsurefire.useFile=false"
readers_log clean "$mvn test -pl four,five -Dtest='Clean*Test' -DfailIfNoTests=false"
readers_log color "${mvn/never/always} test -pl four -Dtest=CleanTest"
readers_log forge "$mvn test -pl four -Dtest=ForgeTest"
readers_log forge-xml "$mvn test -pl four -Dtest=ForgeTest; $keep" "$xml"
readers_log quit "$mvn test -pl four -Dtest='QuitTest,CleanTest'"
readers_log killed "$mvn test -pl four -Dtest='KilledTest,CleanTest'"
readers_log hangs "$mvn test -pl four -Dtest='HangsTest,CleanTest' -Dsurefire.timeout=5"
readers_log broken "$mvn test -pl broken"
readers_log none "$mvn test -pl four -Dtest=NoSuchTest"
readers_log quiet "$mvn -q test -pl four -Dtest='$four'"
# The launcher of JUnit 5 by itself: its report is for the reader junit-xml.
launch=
for jar in junit-jupiter-api junit-jupiter-params junit-jupiter-engine junit-platform-commons junit-platform-engine \
	junit-platform-launcher junit-platform-console junit-platform-reporting opentest4j apiguardian-api picocli \
	univocity-parsers opentest4j-reporting-events; do
	launch=$launch:/usr/share/java/$jar.jar
done
readers_log launcher "javac -encoding UTF-8 -cp $launch -d out five/src/test/java/shop/*.java && { java -Dfile.encoding=UTF-8 \
	-cp $launch:out org.junit.platform.console.ConsoleLauncher --disable-ansi-colors --disable-banner \
	--scan-classpath out --reports-dir rep; s=\$?; sed -i '/<properties>/,/<.properties>/d' rep/*; exit \$s; }" \
	'rep/TEST-junit-jupiter.xml'
# Lines of two modules stand between each other as they come.
[ -n "${READERS_ALL:-}" ] &&
	readers_log threads "$mvn -T 2 -fae test -pl four,five -Dtest='$four,$five' -DfailIfNoTests=false"
exit 0
