import type { FrameHistory } from '../../../../diagnostics/source/frame-history.js'
import type { Rendered, Visit } from '../../../define.js'
import { Time } from '../../../ui/time.js'

/** Last change of the line: `Ada, 3 mo ago · Fix rounding of totals`. Untrusted text from the repository. */
export function FrameAuthor({
  id,
  history,
  commit,
  visit,
}: {
  id: string
  history: FrameHistory | null
  /** Commit of the displayed source. */
  commit: string | null
  visit: Visit
}): Rendered {
  const { change = null, is_pending = false, note = null } = history ?? {}
  const basis = commitNote(history, commit)
  return (
    <p class="frame-author" id={id} data-pending={is_pending ? '' : undefined}>
      {is_pending && 'Loading Git history. '}
      {note}
      {change && (
        <span title={change.commit}>
          <bdi class="frame-who">{change.author}</bdi>
          {change.changed_at !== null && [', ', <Time iso={change.changed_at} visit={visit} />]}
          {change.summary !== '' && ' · '}
          <Summary {...change} />
        </span>
      )}
      {basis && <span class="muted">{basis}</span>}
    </p>
  )
}

function Summary({ summary, link }: { summary: string; link: string | null }): Rendered {
  if (summary === '') return null
  const text = <bdi>{summary}</bdi>
  return link === null ? (
    text
  ) : (
    <a href={link} rel="noreferrer noopener" target="_blank">
      {text}
    </a>
  )
}

function commitNote(history: FrameHistory | null, sourceCommit: string | null): string {
  const commit = sourceCommit ?? history?.commit ?? null
  if (commit !== null) return history?.change ? ` · as of ${commit.slice(0, 7)}` : ` As of ${commit.slice(0, 7)}`
  return history?.change ? ' · in the working copy' : ''
}
