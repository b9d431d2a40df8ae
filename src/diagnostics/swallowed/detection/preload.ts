import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { OPTIONS } from '../../../config/options.js'
import { projectRoot } from '../../../config/project.js'
import { swallowedOptions } from '../options.js'
import { Ledger } from './counting/ledger.js'
import { currentDetection, setDetection, swallowedExceptionsSupport } from './detection.js'
import type { installHooks } from './hooks.js'
import { MarkedFiles } from './marked-files.js'
import { raiseLocation } from './raise-location.js'
import { GLOBALS } from './site.js'

export interface PreloadOptions {
  env: NodeJS.ProcessEnv
  /** Folder of the built package. */
  dist: URL
  warn(message: string): void
}

/** Limit until a tracker applies its settings. Equals the default of `swallowed_exception_max_cache_size`. */
const INITIAL_MAX_TALLIES = 1000
const OPTION_VARIABLE = 'FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS'

/**
 * Starts marking the host's modules if the environment variable is set. An option in code would be too late for modules
 * that are loaded first. Called by `faultboard/register`, once per thread.
 */
export function preloadDetection({ env, dist, warn }: PreloadOptions): void {
  const isTurnedOff = OPTIONS.enabled.kind.fromText?.(env.FAULTBOARD_ENABLED ?? '') === false
  const isEnabled = swallowedOptions.detect_swallowed_exceptions.kind.fromText?.(env[OPTION_VARIABLE] ?? '') === true
  if (isTurnedOff || !isEnabled || currentDetection()) return
  const { reason } = swallowedExceptionsSupport()
  if (reason) {
    if (isMainThread) warn(reason)
    return
  }
  const root = projectRoot(env.FAULTBOARD_PROJECT_ROOT || null)
  const ownFolder = fileURLToPath(new URL('.', dist)).replace(/[\\/]$/, '')
  const onUnreadable = warnAboutTypeScriptOnce(warn)
  const files = new MarkedFiles(onUnreadable)
  const locate = (error: object) => raiseLocation(error, { root, ownFolder, positions: undefined })
  const now = () => performance.timeOrigin + performance.now()
  const ledger = new Ledger({ now, locate, maxTallies: INITIAL_MAX_TALLIES })
  ledger.warmUp()
  // Marked modules call the globals, so they must exist before the hooks.
  defineGlobal(GLOBALS.thrown, ledger.thrown)
  defineGlobal(GLOBALS.caught, ledger.caught)
  defineGlobal(GLOBALS.handler, ledger.handler)
  setDetection({ ledger, files, ownFolder, hasRecorder: false })
  const port = requireHooks(dist).installHooks({
    root,
    ownFolder,
    loaderUrl: new URL('diagnostics/swallowed/detection/loader.js', dist).href,
    onMarked: (file, lines, isMapped) => files.add(file, lines, isMapped),
    onUnreadable,
  })
  if (port) files.listen(port)
}

/** Loads the hooks and their parser synchronously and only on demand, which requires CommonJS. */
function requireHooks(dist: URL): { installHooks: typeof installHooks } {
  return createRequire(dist)('./diagnostics/swallowed/detection/hooks.cjs')
}

/** Defines a non-enumerable global, so that code that lists globals does not see it. */
function defineGlobal(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, configurable: true })
}

function warnAboutTypeScriptOnce(warn: (message: string) => void): (file: string) => void {
  let hasWarned = false
  return (file) => {
    if (hasWarned || !isMainThread || !/\.[cm]?tsx?$/.test(file)) return
    hasWarned = true
    warn(
      `Swallowed exceptions are not counted in ${file}: it cannot be parsed. Load the TypeScript compiler first: node --import tsx --import faultboard/register`,
    )
  }
}
