import module from 'node:module'
import type * as v from 'valibot'
import { setProcessHooks } from '../../../capture/hooks.js'
import * as r from '../../../model/result.js'
import type { Ledger } from './counting/ledger.js'
import type { MarkedFiles } from './marked-files.js'

/** State of a process that started with `faultboard/register` and detection turned on. */
export interface Detection {
  ledger: Ledger
  files: MarkedFiles
  /** Folder of this package, whose frames do not belong to the host. */
  ownFolder: string
  /** True if a tracker stores the counts. */
  hasRecorder: boolean
}

let detection: Detection | null = null

/** Returns null in a process whose modules are not marked. */
export function currentDetection(): Detection | null {
  return detection
}

export function setDetection(started: Detection): void {
  detection = started
  setProcessHooks({
    filterStack: (lines) => started.files.unmarkedStack(lines),
    onReport: (thrown) => started.ledger.reported(thrown),
  })
}

export const Support = r.object({
  supported: r.boolean,
  /** Sentence for the log and the page if the runtime is not supported. */
  reason: r.nullable(r.text),
})
export type Support = v.InferOutput<typeof Support>

export interface Runtime {
  name: string
  version: string
  hasModuleHooks: boolean
}

/** Checks that the runtime has the module hooks that mark the host's code. */
export function swallowedExceptionsSupport({ name, version, hasModuleHooks } = currentRuntime()): Support {
  if (hasModuleHooks) return { supported: true, reason: null }
  return {
    supported: false,
    reason: `Cannot detect swallowed exceptions on ${name} ${version}: requires the module hooks of Node.js 20.6 or later.`,
  }
}

function currentRuntime(): Runtime {
  const otherRuntime = ['bun', 'deno'].find((name) => process.versions[name] !== undefined)
  return {
    name: otherRuntime ?? 'Node.js',
    version: (otherRuntime && process.versions[otherRuntime]) || process.versions.node,
    hasModuleHooks: otherRuntime === undefined && ('registerHooks' in module || 'register' in module),
  }
}
