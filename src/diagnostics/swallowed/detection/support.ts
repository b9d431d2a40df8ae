import module from 'node:module'

export interface Support {
  supported: boolean
  /** Why not, as a sentence for the log and the page. */
  reason: string | null
}

/** What of the runtime decides whether the host's modules can be read as they are loaded. */
export interface Runtime {
  name: string
  version: string
  has_module_hooks: boolean
}

/** Whether exceptions can be counted here: catching sites are marked while modules are being loaded. */
export function swallowedExceptionsSupport({ name, version, has_module_hooks } = thisRuntime()): Support {
  if (has_module_hooks) return { supported: true, reason: null }
  return {
    supported: false,
    reason: `Swallowed exceptions cannot be detected on this runtime (${name} ${version}): it needs the module hooks of Node.js 20.6 or later.`,
  }
}

function thisRuntime(): Runtime {
  const other = ['bun', 'deno'].find((name) => process.versions[name] !== undefined)
  return {
    name: other ?? 'Node.js',
    version: (other && process.versions[other]) || process.versions.node,
    has_module_hooks: other === undefined && ('registerHooks' in module || 'register' in module),
  }
}
