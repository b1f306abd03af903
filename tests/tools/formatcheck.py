#!/usr/bin/env python3
"""formatcheck.py atif|harbor|inspect FILE...: is an exported file what the format's rules ask for? Prints each breach;
exit status 1 when there is one. The rules are written down here from the formats' public descriptions: which keys there
are, which must be there, which go with which."""
import json
import os
import re
import sys
import zipfile
from datetime import datetime

breaches = []


def need(condition, text):
    if not condition:
        breaches.append(text)
    return condition


def is_time(value):
    try:
        return datetime.fromisoformat(value.replace("Z", "+00:00")).tzinfo is not None
    except (AttributeError, ValueError):
        return False


def keys(where, obj, wanted, allowed=()):
    if not need(isinstance(obj, dict), f"{where}: no object"):
        return False
    for key in wanted:
        need(key in obj, f"{where}: {key} is missing")
    for key in obj:
        need(key in wanted or key in allowed, f"{where}: unknown key {key}")
    return True


def atif(path):
    doc = json.load(open(path))
    if not keys(path, doc, ("schema_version", "session_id", "agent", "steps"),
                ("trajectory_id", "notes", "final_metrics", "extra", "continued_trajectory_ref", "subagent_trajectories")):
        return
    need(re.fullmatch(r"ATIF-v1\.[0-7]", doc["schema_version"]), f"{path}: schema_version")
    keys(f"{path}: agent", doc["agent"], ("name", "version"), ("model_name", "tool_definitions", "extra"))
    need(doc["steps"], f"{path}: no steps")
    agent_only = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics", "llm_call_count")
    for i, step in enumerate(doc["steps"], 1):
        where = f"{path}: step {i}"
        keys(where, step, ("step_id", "source", "message"),
             ("timestamp", "observation", "is_copied_context", "extra") + agent_only)
        need(step["step_id"] == i, f"{where}: step_id is {step['step_id']}")
        need(step["source"] in ("system", "user", "agent"), f"{where}: source")
        need("timestamp" not in step or is_time(step["timestamp"]), f"{where}: timestamp")
        if step["source"] != "agent":
            for key in agent_only:
                need(key not in step, f"{where}: {key} of a {step['source']} step")
            need("observation" not in step or step["source"] == "system", f"{where}: observation")
        ids = []
        for call in step.get("tool_calls", []):
            keys(where, call, ("tool_call_id", "function_name", "arguments"), ("extra",))
            need(isinstance(call["arguments"], dict), f"{where}: arguments are no object")
            ids.append(call["tool_call_id"])
        need(len(set(ids)) == len(ids), f"{where}: a tool_call_id twice")
        for result in step.get("observation", {}).get("results", []):
            keys(where, result, (), ("source_call_id", "content", "subagent_trajectory_ref", "extra"))
            need(result.get("source_call_id") in ids, f"{where}: a result of no call of the step")
        m = step.get("metrics", {})
        keys(f"{where}: metrics", m, (), ("prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd",
                                          "prompt_token_ids", "completion_token_ids", "logprobs", "extra"))
        need(m.get("cached_tokens", 0) <= m.get("prompt_tokens", 0), f"{where}: more cached than prompt tokens")
    final = doc.get("final_metrics", {})
    keys(f"{path}: final_metrics", final, (), ("total_prompt_tokens", "total_completion_tokens", "total_cached_tokens",
                                               "total_cost_usd", "total_steps", "extra"))
    need(final.get("total_steps", len(doc["steps"])) == len(doc["steps"]), f"{path}: total_steps")


def span(where, value):
    if value is not None:
        keys(where, value, ("started_at", "finished_at"))
        need(is_time(value["started_at"]) and is_time(value["finished_at"]), f"{where}: times")


def trial(path):
    doc = json.load(open(path + "/result.json"))
    config = json.load(open(path + "/config.json"))
    keys(path, doc, ("id", "task_name", "trial_name", "trial_uri", "task_id", "source", "task_checksum", "config",
                     "agent_info", "agent_result", "verifier_result", "exception_info", "started_at", "finished_at",
                     "environment_setup", "agent_setup", "agent_execution", "verifier"))
    need(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", doc["id"]), f"{path}: id")
    need(config == doc["config"] and config["task"]["path"], f"{path}: config")
    need(doc["trial_name"] == os.path.basename(path), f"{path}: trial_name")
    keys(f"{path}: agent_info", doc["agent_info"], ("name", "version", "model_info"))
    info = doc["agent_info"]["model_info"]
    if info is not None:
        keys(f"{path}: model_info", info, ("name", "provider"))
    if doc["agent_result"] is not None:
        keys(f"{path}: agent_result", doc["agent_result"], ("n_input_tokens", "n_cache_tokens", "n_output_tokens",
                                                            "cost_usd", "rollout_details", "metadata"))
    for key in ("environment_setup", "agent_setup", "agent_execution", "verifier"):
        span(f"{path}: {key}", doc[key])
    result, exception = doc["verifier_result"], doc["exception_info"]
    need((result is None) != (exception is None), f"{path}: either a result or an exception")
    reward = path + "/verifier/reward.txt"
    if result is not None:
        keys(f"{path}: rewards", result["rewards"], ("reward",))
        need(float(open(reward).read()) == result["rewards"]["reward"], f"{path}: reward.txt says something else")
    else:
        need(not os.path.exists(reward), f"{path}: a reward without a result")
        keys(f"{path}: exception_info", exception, ("exception_type", "exception_message", "exception_traceback",
                                                    "occurred_at"))
    if os.path.exists(path + "/agent/trajectory.json"):
        atif(path + "/agent/trajectory.json")
    return doc


def harbor(path):
    doc = json.load(open(path + "/result.json"))
    json.load(open(path + "/config.json"))
    keys(path, doc, ("id", "started_at", "finished_at", "n_total_trials", "stats"))
    trials = [trial(f"{path}/{name}") for name in sorted(os.listdir(path)) if os.path.isdir(f"{path}/{name}")]
    stats = doc["stats"]
    keys(f"{path}: stats", stats, ("n_trials", "n_errors", "evals"))
    errors = sum(t["verifier_result"] is None for t in trials)
    need(doc["n_total_trials"] == stats["n_trials"] == len(trials), f"{path}: number of trials")
    need(stats["n_errors"] == errors, f"{path}: number of errors")
    need(sum(e["n_trials"] for e in stats["evals"].values()) == len(trials), f"{path}: trials of evals")
    if len(stats["evals"]) == 1 and errors < len(trials):
        mean = sum(t["verifier_result"]["rewards"]["reward"] for t in trials if t["verifier_result"]) / (len(trials) - errors)
        need(abs(list(stats["evals"].values())[0]["metrics"][0]["mean"] - mean) < 1e-9, f"{path}: mean")


def sample(where, doc):
    keys(where, doc, ("id", "epoch", "input", "target", "messages", "output", "scores", "metadata", "store", "events",
                      "model_usage", "attachments", "limit"), ("error",))
    for i, m in enumerate(doc["messages"]):
        role = m.get("role")
        need(role in ("system", "user", "assistant", "tool"), f"{where}: message {i}: role")
        keys(f"{where}: message {i}", m, ("role", "content"),
             {"assistant": ("tool_calls",), "tool": ("tool_call_id", "function")}.get(role, ()))
        for c in m.get("tool_calls", []):
            keys(f"{where}: message {i}: call", c, ("id", "function", "arguments", "type"))
    for name, score in doc["scores"].items():
        keys(f"{where}: score {name}", score, ("value", "answer", "explanation"))
        need(score["value"] in ("C", "I"), f"{where}: score {name}: value")
    need(bool(doc["scores"]) != ("error" in doc), f"{where}: either a score or an error")
    if doc["limit"] is not None:
        keys(f"{where}: limit", doc["limit"], ("type", "limit"))
        need(doc["limit"]["type"] in ("context", "time", "working", "message", "token", "turn", "cost", "operator",
                                      "custom"), f"{where}: limit type")
    for e in doc["events"]:
        keys(f"{where}: event", e, ("uuid", "span_id", "timestamp", "working_start", "event", "source", "data"))


def head(where, doc):
    keys(where, doc, ("version", "status", "eval", "plan", "results", "stats"), ("samples",))
    need(doc["version"] == 2 and doc["status"] in ("started", "success", "cancelled", "error"), f"{where}: version, status")
    keys(f"{where}: eval", doc["eval"], ("eval_id", "run_id", "created", "task", "task_id", "task_version", "task_args",
                                         "dataset", "model", "model_args", "config", "packages"), ("sandbox",))
    need(is_time(doc["eval"]["created"]), f"{where}: created")
    need(len(doc["eval"]["dataset"]["sample_ids"]) == doc["eval"]["dataset"]["samples"], f"{where}: sample_ids")
    keys(f"{where}: plan", doc["plan"], ("name", "steps", "config"))
    need(is_time(doc["stats"]["started_at"]) and is_time(doc["stats"]["completed_at"]), f"{where}: stats")
    for s in doc["results"]["scores"]:
        keys(f"{where}: score", s, ("name", "scorer", "params", "metrics"), ("scored_samples", "unscored_samples"))


def inspect(path):
    if path.endswith(".json"):
        doc = json.load(open(path))
        head(path, doc)
        for s in doc["samples"]:
            sample(f"{path}: {s.get('id')}", s)
        good = [s["scores"]["resolved"]["value"] == "C" for s in doc["samples"] if s["scores"]]
        value = doc["results"]["scores"][0]["metrics"]["accuracy"]["value"]
        need(not good or abs(value - sum(good) / len(good)) < 1e-9, f"{path}: accuracy")
        return
    whole = json.load(open(path[:-5] + ".json"))
    with zipfile.ZipFile(path) as z:
        need(z.testzip() is None, f"{path}: a member is broken")
        need(all(i.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for i in z.infolist()), f"{path}: method")
        read = lambda name: json.loads(z.read(name))
        names = set(z.namelist())
        for name in ("header.json", "summaries.json", "reductions.json", "_journal/start.json",
                     "_journal/summaries/1.json"):
            need(name in names, f"{path}: {name} is missing")
        head(f"{path}: header.json", read("header.json"))
        samples = [read(f"samples/{i}_epoch_1.json") for i in whole["eval"]["dataset"]["sample_ids"]]
        need({**read("header.json"), "samples": samples} == whole, f"{path}: not what the JSON form says")
        need([s["id"] for s in read("summaries.json")] == [s["id"] for s in samples], f"{path}: summaries")


for name in sys.argv[2:]:
    {"atif": atif, "harbor": harbor, "inspect": inspect}[sys.argv[1]](name)
print("\n".join(breaches))
sys.exit(bool(breaches))
