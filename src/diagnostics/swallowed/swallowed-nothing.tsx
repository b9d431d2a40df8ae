import type { Rendered } from '../../dashboard/define.js'
import { Empty } from '../../dashboard/ui/empty.js'
import { formatCount } from '../../dashboard/ui/time.js'
import { formatPercent } from '../../dashboard/ui/units.js'
import type { SwallowedExceptions } from './query.js'

const START = 'FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS=true node --import faultboard/register app.js'

/** Why the page is empty, and what to do next. */
export function NothingSwallowed({ data }: { data: SwallowedExceptions }): Rendered {
  const { days, threshold, runtime, is_counting, watched_files, totals } = data
  const title = `Nothing was swallowed in ${days} days`
  if (runtime.reason) return <Empty title="Nothing can be counted here">{runtime.reason}</Empty>
  if (totals.raise_count > 0) {
    return (
      <Empty title={title}>
        {`${formatCount(totals.raise_count)} exceptions were raised, ${formatPercent(totals.rescue_count / totals.raise_count)} of them caught and never reported, and no place exceeds `}
        <code>swallowed_exception_threshold</code>
        {` (${threshold}).`}
      </Empty>
    )
  }
  if (is_counting) {
    return (
      <Empty title={title}>
        {`${watched_files === 1 ? 'One file' : `${formatCount(watched_files)} files`} of this process throw or catch, and are watched. Places appear here a minute or so after more than ${formatPercent(threshold)} of what they raise was caught and never reported.`}
      </Empty>
    )
  }
  return (
    <Empty title={`Nothing was counted in ${days} days`} code={START}>
      Nothing is counted in this process: its modules were loaded before Faultboard could look at them. Set the switch
      by its variable and let Faultboard be loaded first:
    </Empty>
  )
}

/** Says so, where others count and this process does not. */
export function NotCounting({ data: { runtime, is_counting } }: { data: SwallowedExceptions }): Rendered {
  if (is_counting) return null
  return (
    <p class="callout" role="note">
      {runtime.reason ?? (
        <>
          This process does not count its own exceptions: start it with <code>{START}</code>. What other processes have
          counted is shown.
        </>
      )}
    </p>
  )
}
