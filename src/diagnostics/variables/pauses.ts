import type { Debugger, InspectorNotification, Runtime, Session } from 'node:inspector'
import { expectPauses, hasRoomToRecord } from '../../capture/guards/stack-room.js'
import { OwnScripts } from './own-scripts.js'
import { type LiveFrame, wantedObjects } from './paused-frames.js'

/** Who looks at what is thrown. All of it is called while the host stands still, and must not wait. */
export interface PauseReader {
  readonly wants_self: boolean
  /** Whether it can afford another pause. */
  readonly is_open: boolean
  /** No frames, where V8 has optimised their variables away. */
  read(thrown: unknown, frames: readonly LiveFrame[]): void
  spend(ms: number, has_read: boolean): void
  nextSecond(): void
  /** There will be no more pauses, and why. */
  ended(reason: string): void
}

/** Why there can be no pauses here, as the end of a sentence. */
export class NoPauses extends Error {}

const readers = new Set<PauseReader>()
let pauses: Pauses | null = null

/**
 * Lets a reader look at every value that is thrown, in this thread; gives the function that ends it. One session serves
 * all trackers of the process. Throws NoPauses where it cannot be done.
 */
export function onThrow(reader: PauseReader): () => void {
  pauses ??= new Pauses(inspectorHere())
  readers.add(reader)
  pauses.adjust()
  return () => {
    if (!readers.delete(reader)) return
    if (readers.size > 0) pauses?.adjust()
    else end()
  }
}

function end(): void {
  pauses?.close()
  pauses = null
}

type Inspector = typeof import('node:inspector')

const DEBUGGER_ATTACHED = 'a debugger is attached to the process'

/** Loaded when it is needed, and at once: what is thrown in the next line of the host counts too. */
function inspectorHere(): Inspector {
  // By its declaration it is always there; a Node.js can be built without.
  const inspector: Inspector | undefined = process.features.inspector
    ? process.getBuiltinModule('node:inspector')
    : undefined
  if (!inspector || 'bun' in process.versions || 'deno' in process.versions) {
    throw new NoPauses('this runtime has no inspector')
  }
  if (inspector.url() !== undefined) throw new NoPauses(DEBUGGER_ATTACHED)
  return inspector
}

/**
 * What V8 takes to stop and to tell of its frames, before anybody here is asked, in milliseconds. It cannot be measured
 * from the inside, and is most of what a pause costs.
 */
const STOP_MS = 0.3
const STOP_MS_PER_FRAME = 0.05

const CALL_HOOK = 'function (...values) { this(...values) }'

/**
 * A session of the inspector with the very thread it runs in: nothing listens at a port, and no other thread can leave
 * this one standing. Every post is answered before it returns.
 */
class Pauses {
  readonly #inspector: Inspector
  readonly #session: Session
  readonly #scripts = new OwnScripts()
  readonly #hook_id: string
  readonly #timer: NodeJS.Timeout
  #state: 'none' | 'all' = 'none'
  #take: ((objects: readonly unknown[]) => void) | null = null

  constructor(inspector: Inspector) {
    this.#inspector = inspector
    this.#session = connected(inspector)
    this.#hook_id = this.#remoteIdOf((thrown, ...objects) => this.#take?.([thrown, ...objects]))
    this.#session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => this.#scripts.add(scriptId, url))
    this.#session.on('Debugger.paused', this.#onPaused)
    this.#session.post('Debugger.enable', { maxScriptsCacheSize: 0 })
    this.#timer = setInterval(this.#nextSecond, 1000)
    this.#timer.unref()
  }

  /** Stops at what is thrown for as long as somebody can afford it. */
  adjust(): void {
    const state = [...readers].some(({ is_open }) => is_open) ? 'all' : 'none'
    if (state === this.#state) return
    // In this order: near the end of the stack the post may fail, and the thread goes on pausing.
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

  readonly #nextSecond = (): void => {
    if (this.#inspector.url() !== undefined) {
      endAll(DEBUGGER_ATTACHED)
      return
    }
    for (const reader of readers) reader.nextSecond()
    this.adjust()
  }

  readonly #onPaused = ({ params }: InspectorNotification<Debugger.PausedEventDataType>): void => {
    // To resume would take a breakpoint away from whoever sits at the debugger.
    if (this.#inspector.url() !== undefined) {
      endAll(DEBUGGER_ATTACHED)
      return
    }
    const started = performance.now()
    let has_read = false
    try {
      has_read = hasRoomToRecord() && this.#read(params)
    } catch {
      // Thrown from here it would be lost; what was not read is missing from the error, and nothing else.
    }
    const ms = performance.now() - started + STOP_MS + STOP_MS_PER_FRAME * params.callFrames.length
    for (const reader of readers) if (reader.is_open) reader.spend(ms, has_read)
    this.adjust()
    // The session keeps what it told of the pause until this is posted, though the thread goes on without.
    this.#session.post('Debugger.resume')
  }

  #read({ reason, data, callFrames }: Debugger.PausedEventDataType): boolean {
    if (reason !== 'exception' && reason !== 'promiseRejection') return false
    const wanted = wantedObjects(callFrames, this.#scripts, [...readers].some(({ wants_self }) => wants_self)) // biome-ignore format: one question
    if (!wanted) return false
    let has_read = false
    this.#take = ([thrown, ...objects]) => {
      const frames = wanted.frames(objects)
      for (const reader of readers) if (reader.is_open) reader.read(thrown, frames)
      has_read = true
    }
    this.#call([argumentOf(data as Runtime.RemoteObject), ...wanted.ids])
    this.#take = null
    return has_read
  }

  /** By this call the session hands over the live objects themselves, the thrown one included. */
  #call(values: Runtime.CallArgument[]): void {
    this.#session.post('Runtime.callFunctionOn', {
      objectId: this.#hook_id,
      functionDeclaration: CALL_HOOK,
      arguments: values,
      silent: true,
      returnByValue: true,
    })
  }

  /** How the session calls a function of ours. It can only be found from the global object, where it stays no longer. */
  #remoteIdOf(hook: (...values: unknown[]) => void): string {
    const name = 'faultboard: read variables'
    let id: string | undefined
    Object.defineProperty(globalThis, name, { value: hook, configurable: true, enumerable: false })
    try {
      this.#session.post('Runtime.evaluate', { expression: `globalThis[${JSON.stringify(name)}]` }, (_, answer) => {
        id = answer?.result.objectId
      })
    } finally {
      Reflect.deleteProperty(globalThis, name)
    }
    if (id === undefined) throw new NoPauses('the inspector does not answer')
    return id
  }
}

function endAll(reason: string): void {
  const all = [...readers]
  readers.clear()
  end()
  for (const reader of all) reader.ended(reason)
}

function connected({ Session }: Inspector): Session {
  try {
    const session = new Session()
    session.connect()
    return session
  } catch (error) {
    const isDenied = error instanceof Error && 'code' in error && error.code === 'ERR_ACCESS_DENIED'
    throw new NoPauses(isDenied ? 'the permissions of the process forbid it' : 'the inspector cannot be used')
  }
}

/** What was thrown, as the session takes it back. */
function argumentOf({ objectId, unserializableValue, value }: Runtime.RemoteObject): Runtime.CallArgument {
  if (objectId !== undefined) return { objectId }
  if (unserializableValue !== undefined) return { unserializableValue }
  return value === undefined ? {} : { value }
}
