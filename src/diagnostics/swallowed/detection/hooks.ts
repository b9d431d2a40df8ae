import module from 'node:module'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { Instrument, type InstrumentOptions, type Loaded } from './instrument.js'

/** What the thread that loads modules is told, where Node.js has one. */
export interface LoaderData {
  root: string
  own_folder: string
  port: MessagePort
}

export interface HookOptions extends InstrumentOptions {
  /** The module of that thread. */
  loader_url: string
}

type Load = (url: string, context: object, next: (url: string, context: object) => Loaded) => object

interface ModuleHooks {
  registerHooks?(hooks: { load: Load }): unknown
  register?(specifier: string, options: { parentURL: string; data: unknown; transferList: unknown[] }): unknown
}

/**
 * From now on, modules of the host are marked as they are loaded. Gives the port by which the other thread tells what it
 * has marked, where there is one.
 */
export function install(options: HookOptions): MessagePort | null {
  const instrument = new Instrument(options)
  const { registerHooks, register } = module as unknown as ModuleHooks
  if (registerHooks) {
    registerHooks({
      load(url, context, next) {
        const loaded = next(url, context)
        const marked = instrument.of({ ...loaded, url })
        return marked ? { ...loaded, ...marked } : loaded
      },
    })
    return null
  }
  markCommonjs(instrument)
  const { port1, port2 } = new MessageChannel()
  const data: LoaderData = { root: options.root, own_folder: options.own_folder, port: port2 }
  register?.(options.loader_url, { parentURL: options.loader_url, data, transferList: [port2] })
  return port1
}

interface Compiler {
  _compile(this: unknown, code: string, file: string, ...rest: unknown[]): unknown
}

/** Older versions tell no hook of what `require` loads; this is where all that change such code do it. */
function markCommonjs(instrument: Instrument): void {
  const prototype = (module as unknown as { prototype: Compiler }).prototype
  const { _compile } = prototype
  prototype._compile = function (code, file, ...rest) {
    return _compile.call(this, instrument.commonjs(code, file) ?? code, file, ...rest)
  }
}
