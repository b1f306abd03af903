import json
import os
import sys
import unittest

sys.path.insert(0, os.getcwd())
sys.path.insert(0, "/tests")


class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.rows = []

    def stopTest(self, test):
        bad = any(t is test for t, _ in self.failures + self.errors)
        self.rows.append({"name": test.id(), "status": "failed" if bad else "passed", "duration": 0})


result = Result()
unittest.defaultTestLoader.loadTestsFromName("test_words").run(result)
passed = sum(row["status"] == "passed" for row in result.rows)
with open("/logs/verifier/ctrf.json", "w") as f:
    json.dump({"results": {"tool": {"name": "run.py"}, "tests": result.rows,
                           "summary": {"tests": len(result.rows), "passed": passed}}}, f)
with open("/logs/verifier/reward.json", "w") as f:
    whole = len(result.rows) == 3 and passed == 3
    json.dump({"reward": 1.0 if whole else 0.0, "partial": passed / 3}, f)
