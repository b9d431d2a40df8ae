import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { projectRoot } from '../../../config/project.js'
import { swallowedOptions } from '../options.js'
import { currentDetection, setDetection } from './detection.js'
import type { install } from './hooks.js'
import { Ledger } from './ledger.js'
import { MarkedFiles } from './marked-files.js'
import { raiseLocation } from './raise-location.js'
import { GLOBALS } from './site.js'
import { swallowedExceptionsSupport } from './support.js'

export interface PreloadOptions {
  env: NodeJS.ProcessEnv
  /** The folder of all our files. */
  dist: URL
  say(sentence: string): void
}

/** Until a tracker says otherwise. */
const MAX_TALLIES = 1000

/**
 * Begins to mark the host's modules, if the environment asks for it: what a host sets in code comes too late for modules
 * that are loaded before. Called by `faultboard/register`, once in every thread.
 */
export function preloadDetection({ env, dist, say }: PreloadOptions): void {
  const wanted = swallowedOptions.detect_swallowed_exceptions.kind.fromText?.(env[VARIABLE] ?? '') === true
  if (!wanted || currentDetection()) return
  const { reason } = swallowedExceptionsSupport()
  if (reason) {
    if (isMainThread) say(reason)
    return
  }
  const root = projectRoot(env.FAULTBOARD_PROJECT_ROOT || null)
  const own_folder = fileURLToPath(new URL('.', dist)).replace(/[\\/]$/, '')
  const onUnreadable = sayOnce(say)
  const files = new MarkedFiles(onUnreadable)
  const locate = (error: object) => raiseLocation(error, { root, own_folder, positions: undefined })
  const now = () => performance.timeOrigin + performance.now()
  const ledger = new Ledger({ now, locate, max_tallies: MAX_TALLIES })
  ledger.rehearse()
  // Before the hooks: a module that is marked calls them.
  define(GLOBALS.thrown, ledger.thrown)
  define(GLOBALS.caught, ledger.caught)
  define(GLOBALS.handler, ledger.handler)
  setDetection({ ledger, files, own_folder, is_kept: false })
  const port = hooks(dist).install({
    root,
    own_folder,
    loader_url: new URL('diagnostics/swallowed/detection/loader.js', dist).href,
    onMarked: (file, lines, is_mapped) => files.add(file, lines, is_mapped),
    onUnreadable,
  })
  if (port) files.listen(port)
}

const VARIABLE = 'FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS'

/** As CommonJS, because nothing else can be loaded both later and at once; a parser comes with it. */
function hooks(dist: URL): { install: typeof install } {
  return createRequire(dist)('./diagnostics/swallowed/detection/hooks.cjs')
}

/** Not to be seen by those who list what is global. */
function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, configurable: true })
}

function sayOnce(say: (sentence: string) => void): (file: string) => void {
  let is_said = false
  return (file) => {
    if (is_said || !isMainThread || !/\.[cm]?tsx?$/.test(file)) return
    is_said = true
    say(
      `${file} cannot be read, so nothing is counted in it. What compiles TypeScript has to come first: node --import tsx --import faultboard/register`,
    )
  }
}
