import type { FrameHistory } from '../../../diagnostics/source/frame-history.js'
import type { Rendered, Visit } from '../../define.js'
import { sameWith } from '../../href.js'
import { CopyButton } from '../../ui/copy.js'
import { SourceCode, type SourceLines } from '../../ui/source-code.js'
import { FrameAuthor } from './frame-author.js'

/** The source of a frame with what is known of its line, ready to be shown. */
export interface ShownSource {
  source: SourceLines
  /** Which of the host's own frames on the page it is, from 1. */
  number: number
  is_wide: boolean
  /** Whether there may be more lines than these. */
  has_more: boolean
  history: FrameHistory | null
  visit: Visit
}

/** The lines around a frame under a bar that tells who changed them last, and where else they are to be seen. */
export function FrameSource({ shown }: { shown: ShownSource }): Rendered {
  const { source, number, is_wide, has_more, history, visit } = shown
  const id = `frame-${number}`
  return (
    <>
      <div class="frame-bar">
        <FrameAuthor id={`${id}-author`} history={history} commit={source.commit} visit={visit} />
        <p class="frame-tools">
          {has_more && (
            <a class="frame-more" href={`${sameWith(visit, { wide_frame: is_wide ? null : number })}#${id}`}>
              {is_wide ? 'Show fewer lines' : 'Show more lines'}
            </a>
          )}
          {history?.link && (
            <a class="frame-link" href={history.link} rel="noreferrer noopener" target="_blank">
              Open in repository
            </a>
          )}
          <span id={`${id}-path`} hidden>{`${source.file}:${source.line_number}`}</span>
          <CopyButton from={`${id}-path`} label="Copy path" />
        </p>
      </div>
      <div class="frame-source" id={id}>
        <SourceCode source={source} />
      </div>
    </>
  )
}
