import { types } from 'node:util'
import { FILTERED, type Redactor } from '../../model/redaction/redaction.js'
import { TYPE_KEY } from '../../model/stacks/frame-variables.js'
import { Describer, type ValueLimits } from './describe-value.js'
import type { CodePlace, LiveFrame, LiveScope } from './paused-frames.js'

export interface VariableLimits extends ValueLimits {
  variables: number
  /** Null where what `this` holds is not wanted. */
  instance_variables: number | null
}

/** A variable by the name it has in the running code. */
export interface ReadVariable {
  name: string
  value: unknown
  /** Where in the file it can be seen: a minifier's name is told from there. */
  from: CodePlace | null
  to: CodePlace | null
}

/** A frame without any live object of the host's. */
export interface ReadFrame extends CodePlace {
  function_name: string
  url: string
  variables: readonly ReadVariable[]
  left_out: number
  instance_variables: Readonly<Record<string, unknown>> | null
}

/** The frames of a pause that have variables, as plain data. It runs while the host stands still. */
export function readFrames(frames: readonly LiveFrame[], redactor: Redactor, limits: VariableLimits): ReadFrame[] {
  const describer = new Describer(redactor, limits)
  const read = frames.map(({ function_name, url, line, column, scopes, self }) => {
    const found = variablesOf(scopes)
    // `for (const [key, value] of Object.entries(form))`: what the value is stands in another variable.
    const secretNames = describer.secretMembers((wanted) => found.find(({ name }) => name === wanted)?.value)
    return {
      ...{ function_name, url, line, column },
      variables: found.slice(0, limits.variables).map(({ name, value, from, to }) => ({
        name,
        value: secretNames.has(name) ? FILTERED : describer.variable(name, value),
        from,
        to,
      })),
      left_out: Math.max(0, found.length - limits.variables),
      instance_variables: selfOf(self, describer, limits),
    }
  })
  return read.filter(({ variables, instance_variables }) => variables.length > 0 || instance_variables !== null)
}

/** How what marks swallowed exceptions calls its own variables. */
const OWN_NAMES = '__faultboard_'
/** What Node.js wraps around every CommonJS module. */
const WRAPPER = ['exports', 'require', 'module', '__filename', '__dirname']

/** The innermost first, each name once: an outer variable of the same name cannot be seen there. */
function variablesOf(scopes: readonly LiveScope[]): ReadVariable[] {
  const found = new Map<string, ReadVariable>()
  for (const { values, is_module, from, to } of scopes) {
    const names = Object.keys(values)
    const isWrapper = WRAPPER.every((name) => names.includes(name))
    for (const name of names) {
      if (found.has(name) || name.startsWith(OWN_NAMES) || (isWrapper && WRAPPER.includes(name))) continue
      const value = currentValue(values, name)
      if ((is_module || isWrapper) && typeof value === 'function') continue
      if (value !== UNINITIALISED) found.set(name, { name, value, from, to })
    }
  }
  return [...found.values()]
}

const UNINITIALISED = Symbol('uninitialised')

function currentValue(values: object, name: string): unknown {
  try {
    return (values as Record<string, unknown>)[name]
  } catch {
    // From Node.js 22 on this says that the line which gives it its first value was not reached.
    return UNINITIALISED
  }
}

function selfOf(self: unknown, describer: Describer, limits: VariableLimits): ReadFrame['instance_variables'] {
  if (limits.instance_variables === null || typeof self !== 'object' || self === null || self === globalThis)
    return null
  if (types.isProxy(self) || types.isModuleNamespaceObject(self)) return null
  try {
    const properties = describer.properties(self, limits.instance_variables)
    return Object.keys(properties).some((key) => key !== TYPE_KEY) ? properties : null
  } catch {
    // An exotic object may throw from anything that looks at it.
    return null
  }
}
