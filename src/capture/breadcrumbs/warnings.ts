import { types } from 'node:util'
import { guarded } from '../guarded.js'
import type { Source } from '../sources/source.js'

/** Warnings of Node.js and libraries. Another listener does not change how warnings are printed. */
export const processWarnings: Source = ({ context: { breadcrumbs, counters, hooks } }) => {
  const onWarning = guarded(counters, 'warning', (warning: unknown) => {
    if (typeof warning !== 'object' || warning === null) return
    const name = ownText(warning, 'name') ?? 'Warning'
    const code = ownText(warning, 'code')
    const message = ownText(warning, 'message') ?? ''
    const category = name === 'DeprecationWarning' ? 'deprecation' : 'warning'
    if (breadcrumbs.isEnabledFor(category)) {
      const metadata = code === undefined ? undefined : { code }
      breadcrumbs.append({ category, message: `${name}: ${message}`, metadata }, breadcrumbs.trail())
    }
    for (const hook of hooks.onWarning) hook({ name, message, code, stack: () => readStack(warning) })
  })
  process.on('warning', onWarning)
  return () => void process.off('warning', onWarning)
}

/** From Node.js 22 on, `stack` is a getter, which is safe to call only on a native error. */
function readStack(warning: object): string {
  const stack: unknown = types.isNativeError(warning) ? warning.stack : ownText(warning, 'stack')
  return typeof stack === 'string' ? stack : ''
}

/** Reads own data properties only, because the host can emit any object as a warning. */
function ownText(warning: object, name: string): string | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(warning, name)?.value
  return typeof value === 'string' ? value : undefined
}
