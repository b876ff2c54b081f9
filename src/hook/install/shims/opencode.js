// Sends OpenCode's permission requests to sayso, where a person answers them, and the answer back.
//
// OpenCode keeps its own prompt open meanwhile, and whichever answer comes first counts. Whatever goes
// wrong here leaves that prompt as it is: nothing is ever allowed because of a failure.

import { spawn } from "node:child_process"

const SAYSO = "@PROGRAM@"
const CAPTURE = "@ASK@"
const EXTRA = "@EXTRA@"
const WAIT_SECONDS = "@WAIT@"

// Runs one hook. Resolves to what it printed, or to undefined if it failed in any way.
function hook(event, args, payload, onStart) {
  return new Promise((resolve) => {
    let child
    try {
      child = spawn(SAYSO, ["hook", "opencode", event, ...args], {
        stdio: ["pipe", "pipe", "ignore"],
      })
    } catch {
      return resolve(undefined)
    }
    let out = ""
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (chunk) => (out += chunk))
    child.on("error", () => resolve(undefined))
    child.on("close", (code) => resolve(code === 0 ? out : undefined))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
    onStart?.(child)
  })
}

// "allow" or "deny", only if the hook printed exactly one object that says so.
function verdict(out) {
  try {
    const status = JSON.parse(out).status
    return status === "allow" || status === "deny" ? status : undefined
  } catch {
    return undefined
  }
}

export const sayso = async ({ client, directory }) => {
  const waiting = new Map() // permission id -> { child, session }
  const known = new Set() // permission ids that were asked, or were settled before we asked

  const payload = (name, session, request) => ({
    hook_event_name: name,
    session_id: session,
    cwd: directory,
    request,
  })

  const ask = async (request) => {
    known.add(request.id)
    const out = await hook(
      "permission-ask",
      [...EXTRA, "--timeout", String(WAIT_SECONDS)],
      payload("permission.ask", request.sessionID, request),
      (child) => waiting.set(request.id, { child, session: request.sessionID }),
    )
    // Absent: OpenCode settled the request itself, and the hook was told to withdraw its question.
    return waiting.delete(request.id) ? verdict(out) : undefined
  }

  const withdraw = (match) => {
    for (const [id, { child, session }] of waiting) {
      if (!match(id, session)) continue
      waiting.delete(id)
      child.kill("SIGTERM")
    }
  }

  const answer = async (request) => {
    const status = await ask(request)
    if (!status) return
    await client.postSessionIdPermissionsPermissionId({
      path: { id: request.sessionID, permissionID: request.id },
      body: { response: status === "allow" ? "once" : "reject" },
    })
  }

  const reconcile = (name, session) => hook(name, [], payload(name, session))

  return {
    // Not called by every version; those that do not call it publish an event instead.
    "permission.ask": async (request, output) => {
      if (!CAPTURE) return
      const status = await ask(request)
      if (status) output.status = status
    },

    event: async ({ event }) => {
      const about = event.properties ?? {}
      switch (event.type) {
        case "permission.asked":
        case "permission.updated":
          if (!CAPTURE || known.has(about.id)) return
          answer(about).catch(() => {})
          return
        case "permission.replied": {
          const id = about.requestID ?? about.permissionID
          known.add(id)
          withdraw((waitingId) => waitingId === id)
          return
        }
        case "session.idle":
        case "session.deleted": {
          const session = about.sessionID ?? about.info?.id
          withdraw((_, of) => of === session)
          await reconcile(event.type.replace(".", "-"), session)
          return
        }
        case "server.instance.disposed":
          withdraw(() => true)
      }
    },
  }
}
