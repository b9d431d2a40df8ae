import { types } from 'node:util'
import { FILTERED, type Redactor } from '../../model/redaction/redaction.js'
import { TYPE_KEY } from '../../model/stacks/frame-variables.js'
import { Describer, type ValueLimits } from './describe-value.js'
import type { CodePosition, LiveFrame, LiveScope } from './paused-frames.js'

export interface VariableLimits extends ValueLimits {
  variables: number
  /** Null if the properties of `this` are not recorded. */
  instanceVariables: number | null
}

/** Variable with its name in the running code. */
export interface ReadVariable {
  name: string
  value: unknown
  /** Range of the scope, needed to find the original name of a minified variable. */
  start: CodePosition | null
  end: CodePosition | null
}

/** Frame as plain data, without the host's live objects. */
export interface ReadFrame extends CodePosition {
  functionName: string
  url: string
  variables: readonly ReadVariable[]
  omittedCount: number
  instanceVariables: Readonly<Record<string, unknown>> | null
}

/** Converts the frames of a pause that have variables to plain data. Runs while the host is paused. */
export function readFrames(frames: readonly LiveFrame[], redactor: Redactor, limits: VariableLimits): ReadFrame[] {
  const describer = new Describer(redactor, limits)
  const read = frames.map(({ functionName, url, line, column, scopes, thisValue }) => {
    const visible = visibleVariables(scopes)
    // In `for (const [key, value] of Object.entries(form))`, the value of `key` decides whether `value` is a secret.
    const secretNames = describer.secretMembers((key) => visible.find(({ name }) => name === key)?.value)
    return {
      ...{ functionName, url, line, column },
      variables: visible.slice(0, limits.variables).map(({ name, value, start, end }) => ({
        name,
        value: secretNames.has(name) ? FILTERED : describer.variable(name, value),
        start,
        end,
      })),
      omittedCount: Math.max(0, visible.length - limits.variables),
      instanceVariables: readInstanceVariables(thisValue, describer, limits),
    }
  })
  return read.filter(({ variables, instanceVariables }) => variables.length > 0 || instanceVariables !== null)
}

/** Prefix of the variables that the detection of swallowed exceptions adds. */
const MARK_PREFIX = '__faultboard_'
/** Parameters of the function that Node.js wraps around a CommonJS module. */
const WRAPPER_PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname']

/** Returns variables from the innermost scope outward. Shadowed variables are skipped. */
function visibleVariables(scopes: readonly LiveScope[]): ReadVariable[] {
  const visible = new Map<string, ReadVariable>()
  for (const { values, isModule, start, end } of scopes) {
    const names = Object.keys(values)
    const isWrapper = WRAPPER_PARAMETERS.every((name) => names.includes(name))
    for (const name of names) {
      if (visible.has(name) || name.startsWith(MARK_PREFIX) || (isWrapper && WRAPPER_PARAMETERS.includes(name)))
        continue
      const value = currentValue(values, name)
      if ((isModule || isWrapper) && typeof value === 'function') continue
      if (value !== UNINITIALIZED) visible.set(name, { name, value, start, end })
    }
  }
  return [...visible.values()]
}

const UNINITIALIZED = Symbol('uninitialized')

function currentValue(values: object, name: string): unknown {
  try {
    return (values as Record<string, unknown>)[name]
  } catch {
    // Node.js 22 and later throw for a variable whose declaration has not run yet.
    return UNINITIALIZED
  }
}

function readInstanceVariables(
  thisValue: unknown,
  describer: Describer,
  { instanceVariables }: VariableLimits,
): ReadFrame['instanceVariables'] {
  if (instanceVariables === null || typeof thisValue !== 'object' || thisValue === null || thisValue === globalThis)
    return null
  if (types.isProxy(thisValue) || types.isModuleNamespaceObject(thisValue)) return null
  try {
    const properties = describer.properties(thisValue, instanceVariables)
    return Object.keys(properties).some((key) => key !== TYPE_KEY) ? properties : null
  } catch {
    // Exotic objects can throw from any operation.
    return null
  }
}
