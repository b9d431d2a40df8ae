import type { Debugger, Runtime } from 'node:inspector'
import type { OwnScripts } from './own-scripts.js'

/** A place in the running code; line and column count from one, as in a stack. */
export interface CodePlace {
  line: number
  column: number
}

/** What a scope holds, live, and where in the file it begins and ends. */
export interface LiveScope {
  values: object
  /** The top of a module: besides its state it holds all its functions and imports. */
  is_module: boolean
  from: CodePlace | null
  to: CodePlace | null
}

/** A frame of the host's own code while it stands still. */
export interface LiveFrame extends CodePlace {
  function_name: string
  url: string
  scopes: readonly LiveScope[]
  /** What `this` is, in the first frame and only where somebody wants it. */
  self: unknown
}

/** So many frames have variables: who looks for the fault looks there. */
const MOST_FRAMES = 5
const READ_SCOPES = new Set<string>(['block', 'catch', 'local'])

/**
 * Which objects of a pause have to be fetched, and how the frames are put together from them once they are there.
 * Null where the host's own code has no part in the stack; no frames where V8 has optimised the variables of all away.
 */
export function wantedObjects(
  callFrames: readonly Debugger.CallFrame[],
  scripts: OwnScripts,
  with_self: boolean,
): { ids: Runtime.CallArgument[]; frames(objects: readonly unknown[]): LiveFrame[] } | null {
  const ids: Runtime.CallArgument[] = []
  const wanted: Wanted[] = []
  let is_hosts = false
  for (const frame of callFrames) {
    const url = scripts.urlOf(frame.location.scriptId)
    if (url === undefined) continue
    is_hosts = true
    // Optimised code does not keep what it needs no more: without any scope, nothing is known of the frame.
    if (frame.scopeChain.length === 0) continue
    const scopes = readScopes(frame).map((scope) => ({ scope, index: push(ids, scope.object.objectId) }))
    const self = with_self && wanted.length === 0 ? frame.this?.objectId : undefined
    wanted.push({ frame, url, scopes, self: self === undefined ? null : push(ids, self) })
    if (wanted.length === MOST_FRAMES) break
  }
  if (!is_hosts) return null
  return { ids, frames: (objects) => wanted.map((one) => liveFrame(one, objects)) }
}

interface Wanted {
  frame: Debugger.CallFrame
  url: string
  scopes: { scope: Debugger.Scope; index: number }[]
  self: number | null
}

/** From the innermost block to the function itself; at the top of a module, the module's own. */
function readScopes({ scopeChain }: Debugger.CallFrame): Debugger.Scope[] {
  const scopes: Debugger.Scope[] = []
  for (const scope of scopeChain) {
    const isModule = scope.type === 'module'
    if (!READ_SCOPES.has(scope.type) && !isModule) {
      if (scope.type === 'with' || scope.type === 'eval') continue
      break
    }
    if (scope.object.objectId !== undefined) scopes.push(scope)
    if (isModule || scope.type === 'local') break
  }
  return scopes
}

function push(ids: Runtime.CallArgument[], objectId: string | undefined): number {
  return ids.push(objectId === undefined ? {} : { objectId }) - 1
}

function liveFrame({ frame, url, scopes, self }: Wanted, objects: readonly unknown[]): LiveFrame {
  return {
    function_name: frame.functionName,
    url,
    ...(placeOf(frame.location) as CodePlace),
    scopes: scopes.map(({ scope, index }) => ({
      values: objects[index] as object,
      is_module: scope.type === 'module',
      from: placeOf(scope.startLocation),
      to: placeOf(scope.endLocation),
    })),
    self: self === null ? undefined : objects[self],
  }
}

function placeOf(location: Debugger.Location | undefined): CodePlace | null {
  return location ? { line: location.lineNumber + 1, column: (location.columnNumber ?? 0) + 1 } : null
}
