import { types } from 'node:util'
import { guarded } from '../guarded.js'
import type { Source } from '../sources/source.js'

/** What Node.js and libraries warn of. One more listener changes nothing about how warnings are printed. */
export const processWarnings: Source = ({ context: { breadcrumbs, counters, deprecations } }) => {
  const onWarning = guarded(counters, 'warning', (warning: unknown) => {
    if (typeof warning !== 'object' || warning === null) return
    const name = ownText(warning, 'name') ?? 'Warning'
    const code = ownText(warning, 'code')
    const message = ownText(warning, 'message') ?? ''
    const category = name === 'DeprecationWarning' ? 'deprecation' : 'warning'
    if (breadcrumbs.keeps(category)) {
      const metadata = code === undefined ? undefined : { code }
      breadcrumbs.put({ category, message: `${name}: ${message}`, metadata }, breadcrumbs.trail())
    }
    if (category === 'deprecation') deprecations?.note({ message, code, stack: () => stackOf(warning) })
  })
  process.on('warning', onWarning)
  return () => void process.off('warning', onWarning)
}

/** From Node.js 22 on a getter of the warning itself, which only one that Node.js has made can have. */
function stackOf(warning: object): string {
  const stack: unknown = types.isNativeError(warning) ? warning.stack : ownText(warning, 'stack')
  return typeof stack === 'string' ? stack : ''
}

/** The host may have made the warning out of anything. */
function ownText(warning: object, name: string): string | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(warning, name)?.value
  return typeof value === 'string' ? value : undefined
}
