import module from 'node:module'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { Instrument, type InstrumentOptions, type LoadedModule } from './marking/instrument.js'

/** Input of the loader thread. */
export interface LoaderData {
  root: string
  ownFolder: string
  port: MessagePort
}

export interface HookOptions extends InstrumentOptions {
  /** Module that runs in the loader thread. */
  loaderUrl: string
}

type Load = (url: string, context: object, next: (url: string, context: object) => LoadedModule) => object

interface ModuleHooks {
  registerHooks?(hooks: { load: Load }): unknown
  register?(specifier: string, options: { parentURL: string; data: unknown; transferList: unknown[] }): unknown
}

/**
 * Marks the host's modules as they are loaded. Returns the port of the loader thread, or null if Node.js runs the hooks
 * in the main thread.
 */
export function installHooks(options: HookOptions): MessagePort | null {
  const instrument = new Instrument(options)
  const { registerHooks, register } = module as unknown as ModuleHooks
  if (registerHooks) {
    registerHooks({
      load(url, context, next) {
        const loaded = next(url, context)
        const marked = instrument.markModule({ ...loaded, url })
        return marked ? { ...loaded, ...marked } : loaded
      },
    })
    return null
  }
  markCommonjs(instrument)
  const { port1, port2 } = new MessageChannel()
  const data: LoaderData = { root: options.root, ownFolder: options.ownFolder, port: port2 }
  register?.(options.loaderUrl, { parentURL: options.loaderUrl, data, transferList: [port2] })
  return port1
}

interface Compiler {
  _compile(this: unknown, code: string, file: string, ...rest: unknown[]): unknown
}

/** Patches the compiler of CommonJS, because `register` hooks of older Node.js versions do not run for `require`. */
function markCommonjs(instrument: Instrument): void {
  const prototype = (module as unknown as { prototype: Compiler }).prototype
  const { _compile } = prototype
  prototype._compile = function (code, file, ...rest) {
    return _compile.call(this, instrument.markCommonjs(code, file) ?? code, file, ...rest)
  }
}
