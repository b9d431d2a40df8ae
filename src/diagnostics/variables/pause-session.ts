import type { Debugger, InspectorNotification, Runtime, Session } from 'node:inspector'
import { expectPauses, hasRoomToRecord } from '../../capture/guards/stack-room.js'
import { HostScripts } from './host-scripts.js'
import { type LiveFrame, selectObjects } from './paused-frames.js'

/** Reads thrown values. All methods run while the host is paused and must not wait. */
export interface PauseReader {
  /** True to fetch the value of `this`. */
  readonly wantsThis: boolean
  /** True if the budget allows another pause. */
  readonly isOpen: boolean
  /** Receives a thrown value and its frames. The frames are empty if V8 has optimized away their variables. */
  read(thrown: unknown, frames: readonly LiveFrame[]): void
  spend(ms: number, hasRead: boolean): void
  startNextSecond(): void
  /** Called when the session ends for an external reason. */
  onEnded(reason: string): void
}

/** The process cannot pause on exceptions. The message completes a sentence in the log. */
export class PausesUnavailable extends Error {}

const readers = new Set<PauseReader>()
let session: PauseSession | null = null

/**
 * Lets a reader see every value thrown in this thread. Returns the function that removes the reader. All trackers of the
 * process share one session. Throws PausesUnavailable.
 */
export function pauseOnThrow(reader: PauseReader): () => void {
  session ??= new PauseSession(loadInspector())
  readers.add(reader)
  session.updateState()
  return () => {
    if (!readers.delete(reader)) return
    if (readers.size > 0) session?.updateState()
    else endSession()
  }
}

function endSession(): void {
  session?.close()
  session = null
}

type Inspector = typeof import('node:inspector')

const DEBUGGER_ATTACHED = 'a debugger is attached to the process'

/** Loads the inspector on demand and synchronously, so that the host's next throw is seen. */
function loadInspector(): Inspector {
  // Node.js can be built without the inspector.
  const inspector: Inspector | undefined = process.features.inspector
    ? process.getBuiltinModule('node:inspector')
    : undefined
  if (!inspector || 'bun' in process.versions || 'deno' in process.versions) {
    throw new PausesUnavailable('this runtime has no inspector')
  }
  if (inspector.url() !== undefined) throw new PausesUnavailable(DEBUGGER_ATTACHED)
  return inspector
}

/**
 * Estimated time that V8 needs to pause and describe its frames. This time is most of the cost of a pause and cannot be
 * measured from within the process.
 */
const PAUSE_MS = 0.3
const PAUSE_MS_PER_FRAME = 0.05

const CALL_HOOK = 'function (...values) { this(...values) }'

/**
 * Inspector session of the current thread. Opens no port, and no other thread can hold the pause. Every `post`
 * completes synchronously.
 */
class PauseSession {
  readonly #inspector: Inspector
  readonly #session: Session
  readonly #scripts = new HostScripts()
  readonly #hookId: string
  readonly #timer: NodeJS.Timeout
  #state: 'none' | 'all' = 'none'
  #receiveObjects: ((objects: readonly unknown[]) => void) | null = null

  constructor(inspector: Inspector) {
    this.#inspector = inspector
    this.#session = connect(inspector)
    this.#hookId = this.#remoteId((thrown, ...objects) => this.#receiveObjects?.([thrown, ...objects]))
    this.#session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => this.#scripts.add(scriptId, url))
    this.#session.on('Debugger.paused', this.#onPaused)
    this.#session.post('Debugger.enable', { maxScriptsCacheSize: 0 })
    this.#timer = setInterval(this.#startNextSecond, 1000)
    this.#timer.unref()
  }

  /** Turns pauses on while at least one reader has budget. */
  updateState(): void {
    const state = [...readers].some(({ isOpen }) => isOpen) ? 'all' : 'none'
    if (state === this.#state) return
    // Set first, because `post` can fail near the stack limit after pauses are already on.
    if (state === 'all') expectPauses(true)
    this.#session.post('Debugger.setPauseOnExceptions', { state })
    this.#state = state
    expectPauses(state === 'all')
  }

  close(): void {
    expectPauses(false)
    clearInterval(this.#timer)
    this.#session.removeAllListeners()
    this.#session.post('Debugger.disable')
    this.#session.disconnect()
  }

  readonly #startNextSecond = (): void => {
    if (this.#inspector.url() !== undefined) {
      endAll(DEBUGGER_ATTACHED)
      return
    }
    for (const reader of readers) reader.startNextSecond()
    this.updateState()
  }

  readonly #onPaused = ({ params }: InspectorNotification<Debugger.PausedEventDataType>): void => {
    // Resuming would skip a breakpoint of the attached debugger.
    if (this.#inspector.url() !== undefined) {
      endAll(DEBUGGER_ATTACHED)
      return
    }
    const startedAt = performance.now()
    let hasRead = false
    try {
      hasRead = hasRoomToRecord() && this.#read(params)
    } catch {
      // The error is recorded without variables.
    }
    const ms = performance.now() - startedAt + PAUSE_MS + PAUSE_MS_PER_FRAME * params.callFrames.length
    for (const reader of readers) if (reader.isOpen) reader.spend(ms, hasRead)
    this.updateState()
    // Only needed to release the objects of this pause. The thread would continue anyway.
    this.#session.post('Debugger.resume')
  }

  #read({ reason, data, callFrames }: Debugger.PausedEventDataType): boolean {
    if (reason !== 'exception' && reason !== 'promiseRejection') return false
    const includeThis = [...readers].some(({ wantsThis }) => wantsThis)
    const selection = selectObjects(callFrames, this.#scripts, includeThis)
    if (!selection) return false
    let hasRead = false
    this.#receiveObjects = ([thrown, ...objects]) => {
      const frames = selection.buildFrames(objects)
      for (const reader of readers) if (reader.isOpen) reader.read(thrown, frames)
      hasRead = true
    }
    this.#callHook([toArgument(data as Runtime.RemoteObject), ...selection.ids])
    this.#receiveObjects = null
    return hasRead
  }

  /** Makes the session pass the live objects to the hook. */
  #callHook(values: Runtime.CallArgument[]): void {
    this.#session.post('Runtime.callFunctionOn', {
      objectId: this.#hookId,
      functionDeclaration: CALL_HOOK,
      arguments: values,
      silent: true,
      returnByValue: true,
    })
  }

  /** Returns the remote id of a function. The session finds it through a temporary global. */
  #remoteId(hook: (...values: unknown[]) => void): string {
    const name = 'faultboard: read variables'
    let id: string | undefined
    Object.defineProperty(globalThis, name, { value: hook, configurable: true, enumerable: false })
    try {
      this.#session.post('Runtime.evaluate', { expression: `globalThis[${JSON.stringify(name)}]` }, (_, response) => {
        id = response?.result.objectId
      })
    } finally {
      Reflect.deleteProperty(globalThis, name)
    }
    if (id === undefined) throw new PausesUnavailable('the inspector does not respond')
    return id
  }
}

function endAll(reason: string): void {
  const ended = [...readers]
  readers.clear()
  endSession()
  for (const reader of ended) reader.onEnded(reason)
}

function connect({ Session }: Inspector): Session {
  try {
    const session = new Session()
    session.connect()
    return session
  } catch (error) {
    const isDenied = error instanceof Error && 'code' in error && error.code === 'ERR_ACCESS_DENIED'
    throw new PausesUnavailable(
      isDenied ? 'the permission model of the process denies it' : 'the inspector is not available',
    )
  }
}

function toArgument({ objectId, unserializableValue, value }: Runtime.RemoteObject): Runtime.CallArgument {
  if (objectId !== undefined) return { objectId }
  if (unserializableValue !== undefined) return { unserializableValue }
  return value === undefined ? {} : { value }
}
