import { guarded } from '../guarded.js'
import type { Source } from '../source.js'

/** What Node.js and libraries warn of. One more listener changes nothing about how warnings are printed. */
export const processWarnings: Source = ({ context: { breadcrumbs, counters } }) => {
  const onWarning = guarded(counters, 'warning', (warning: unknown) => {
    if (typeof warning !== 'object' || warning === null) return
    const name = ownText(warning, 'name') ?? 'Warning'
    const code = ownText(warning, 'code')
    breadcrumbs.add({
      category: name === 'DeprecationWarning' ? 'deprecation' : 'warning',
      message: `${name}: ${ownText(warning, 'message') ?? ''}`,
      metadata: code === undefined ? undefined : { code },
    })
  })
  process.on('warning', onWarning)
  return () => void process.off('warning', onWarning)
}

/** The host may have made the warning out of anything. */
function ownText(warning: object, name: string): string | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(warning, name)?.value
  return typeof value === 'string' ? value : undefined
}
