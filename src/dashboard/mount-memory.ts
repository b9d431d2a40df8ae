import type { Context } from '../context.js'
import { rememberDashboardPath } from '../notifications/content/dashboard-path.js'

/**
 * Keeps where people find the dashboard, for the links of messages: only the browser's way to it knows the host's own
 * mount and what a proxy puts in front. It asks the database once for each change, after the page was answered.
 */
export function mountMemory(context: Context): (base: string) => void {
  let known: string | null = null
  const forget = () => {
    known = null
  }
  return (base) => {
    if (base === known) return
    known = base
    setImmediate(() => {
      // A page needs no links of messages: the next visit tries again.
      rememberDashboardPath(context, base).then((is_kept) => is_kept || forget(), forget)
    })
  }
}
