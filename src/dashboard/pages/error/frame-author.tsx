import type { FrameHistory } from '../../../diagnostics/source/frame-history.js'
import type { Rendered, Visit } from '../../define.js'
import { Time } from '../../ui/time.js'

/** Who last changed the line: `Ada, 3 mo ago · Fix rounding of totals`. Every word of it was written by others. */
export function FrameAuthor({
  id,
  history,
  commit,
  visit,
}: {
  id: string
  history: FrameHistory | null
  /** That of the lines that are shown. */
  commit: string | null
  visit: Visit
}): Rendered {
  const { change = null, is_pending = false, note = null } = history ?? {}
  return (
    <p class="frame-author" id={id} data-pending={is_pending ? '' : undefined}>
      {is_pending && 'Git has not answered yet. '}
      {note}
      {change && (
        <span title={change.commit}>
          <bdi class="frame-who">{change.author}</bdi>
          {change.changed_at !== null && [', ', <Time iso={change.changed_at} visit={visit} />]}
          {change.summary !== '' && ' · '}
          <Summary {...change} />
        </span>
      )}
      <span class="muted">{asOf(history, commit)}</span>
    </p>
  )
}

function Summary({ summary, link }: { summary: string; link: string | null }): Rendered {
  if (summary === '') return null
  const words = <bdi>{summary}</bdi>
  return link === null ? (
    words
  ) : (
    <a href={link} rel="noreferrer noopener" target="_blank">
      {words}
    </a>
  )
}

function asOf(history: FrameHistory | null, shown: string | null): string {
  const commit = shown ?? history?.commit ?? null
  if (commit !== null) return history?.change ? ` · as of ${commit.slice(0, 7)}` : ` As of ${commit.slice(0, 7)}`
  return history?.change ? ' · in the working copy' : ''
}
