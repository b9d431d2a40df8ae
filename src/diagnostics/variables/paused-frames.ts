import type { Debugger, Runtime } from 'node:inspector'
import type { HostScripts } from './host-scripts.js'

/** Position in the running code. Line and column start at one, as in a stack. */
export interface CodePosition {
  line: number
  column: number
}

/** Scope with its live values and its range in the file. */
export interface LiveScope {
  values: object
  /** Module scopes also contain functions and imports. */
  isModule: boolean
  start: CodePosition | null
  end: CodePosition | null
}

/** Frame of the host's code while the thread is paused. */
export interface LiveFrame extends CodePosition {
  functionName: string
  url: string
  scopes: readonly LiveScope[]
  /** Value of `this` in the first frame, if requested. */
  thisValue: unknown
}

/** Frames with variables. The cause of an error is rarely further up the stack. */
const MAX_FRAMES = 5
const READ_SCOPES = new Set<string>(['block', 'catch', 'local'])

/**
 * Selects the remote objects of a pause and returns the function that builds frames from the fetched objects. Returns
 * null if the stack contains no host code. The frames are empty if V8 has optimized away all variables.
 */
export function selectObjects(
  callFrames: readonly Debugger.CallFrame[],
  scripts: HostScripts,
  includeThis: boolean,
): { ids: Runtime.CallArgument[]; buildFrames(objects: readonly unknown[]): LiveFrame[] } | null {
  const ids: Runtime.CallArgument[] = []
  const selected: SelectedFrame[] = []
  let hasHostFrame = false
  for (const frame of callFrames) {
    const url = scripts.urlOf(frame.location.scriptId)
    if (url === undefined) continue
    hasHostFrame = true
    // Optimized code can have no scopes at all.
    if (frame.scopeChain.length === 0) continue
    const scopes = readableScopes(frame).map((scope) => ({ scope, index: addId(ids, scope.object.objectId) }))
    const thisId = includeThis && selected.length === 0 ? frame.this?.objectId : undefined
    selected.push({ frame, url, scopes, thisIndex: thisId === undefined ? null : addId(ids, thisId) })
    if (selected.length === MAX_FRAMES) break
  }
  if (!hasHostFrame) return null
  return { ids, buildFrames: (objects) => selected.map((frame) => buildFrame(frame, objects)) }
}

interface SelectedFrame {
  frame: Debugger.CallFrame
  url: string
  scopes: { scope: Debugger.Scope; index: number }[]
  thisIndex: number | null
}

/** Returns the scopes from the innermost block to the function, or to the module for top-level code. */
function readableScopes({ scopeChain }: Debugger.CallFrame): Debugger.Scope[] {
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

/** Adds an object id and returns its index. */
function addId(ids: Runtime.CallArgument[], objectId: string | undefined): number {
  return ids.push(objectId === undefined ? {} : { objectId }) - 1
}

function buildFrame({ frame, url, scopes, thisIndex }: SelectedFrame, objects: readonly unknown[]): LiveFrame {
  return {
    functionName: frame.functionName,
    url,
    ...(toPosition(frame.location) as CodePosition),
    scopes: scopes.map(({ scope, index }) => ({
      values: objects[index] as object,
      isModule: scope.type === 'module',
      start: toPosition(scope.startLocation),
      end: toPosition(scope.endLocation),
    })),
    thisValue: thisIndex === null ? undefined : objects[thisIndex],
  }
}

function toPosition(location: Debugger.Location | undefined): CodePosition | null {
  return location ? { line: location.lineNumber + 1, column: (location.columnNumber ?? 0) + 1 } : null
}
