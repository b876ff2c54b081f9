// Sends every tool call of Pi to sayso before it runs, where a policy or a person decides.
//
// Pi has no permission prompts of its own, so a call that gets no answer is put to the person at the
// terminal, and blocked where there is none: nothing ever runs because of a failure.

import { spawn } from "node:child_process";

const SAYSO = "@PROGRAM@";
const EXTRA = "@EXTRA@";
const WAIT_SECONDS = "@WAIT@";

// Runs the hook. Resolves to its verdict, or to undefined if it failed in any way.
function decide(payload, signal) {
  return new Promise((resolve) => {
    let child;
    try {
      const args = ["hook", "pi", "tool-call", ...EXTRA, "--timeout", String(WAIT_SECONDS)];
      child = spawn(SAYSO, args, { stdio: ["pipe", "pipe", "ignore"] });
    } catch {
      resolve(undefined);
      return;
    }
    // The hook withdraws its question when it is told to end.
    const stop = () => child.kill("SIGTERM");
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
    const late = setTimeout(() => child.kill("SIGKILL"), (WAIT_SECONDS + 10) * 1000);
    let out = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (chunk) => (out += chunk));
    const end = (verdict) => {
      clearTimeout(late);
      signal?.removeEventListener("abort", stop);
      resolve(verdict);
    };
    child.on("error", () => end(undefined));
    child.on("close", (code) => end(code === 0 ? parse(out) : undefined));
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(payload));
  });
}

function parse(out) {
  try {
    const verdict = JSON.parse(out);
    return typeof verdict?.block === "boolean" ? verdict : undefined;
  } catch {
    return undefined;
  }
}

// What was shown is what runs: nobody changes the input after the answer.
function freeze(value) {
  if (value === null || typeof value !== "object" || Object.isFrozen(value)) return;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
}

export default function (pi) {
  pi.on("tool_call", async (event, ctx) => {
    const shown = JSON.stringify(event.input, null, 2);
    const verdict = await decide(
      {
        hook_event_name: "tool_call",
        session_id: ctx.sessionManager?.getSessionId?.(),
        cwd: ctx.cwd,
        tool_name: event.toolName,
        tool_call_id: event.toolCallId,
        tool_input: event.input,
      },
      ctx.signal,
    );
    if (verdict?.block) {
      return { block: true, reason: verdict.reason || "Denied through sayso." };
    }
    if (!verdict) {
      const ask = ctx.hasUI && !ctx.signal?.aborted;
      const yes = ask && (await ctx.ui.confirm(`Run ${event.toolName}?`, shown, { signal: ctx.signal }));
      if (yes !== true) {
        return { block: true, reason: "Nobody allowed this call." };
      }
    }
    if (JSON.stringify(event.input, null, 2) !== shown) {
      return { block: true, reason: "The input changed while the question was open." };
    }
    freeze(event.input);
    return undefined;
  });
}
