import type { FrameHistory } from '../../../../diagnostics/source/frame-history.js'
import type { Rendered, Visit } from '../../../define.js'
import { currentPageWith } from '../../../links/href.js'
import { CopyButton } from '../../../ui/copy.js'
import { SourceCode, type SourceLines } from '../../../ui/values/source-code.js'
import { FrameAuthor } from './frame-author.js'

/** Source of a frame with the Git history of its line. */
export interface ShownSource {
  source: SourceLines
  /** Position among the in-app frames of the page, starting at 1. */
  number: number
  isWide: boolean
  /** True if more lines can be loaded. */
  hasMore: boolean
  history: FrameHistory | null
  visit: Visit
}

/** Source lines of a frame, with the last change and a link to the repository. */
export function FrameSource({ shown }: { shown: ShownSource }): Rendered {
  const { source, number, isWide, hasMore, history, visit } = shown
  const id = `frame-${number}`
  return (
    <>
      <div class="frame-bar">
        <FrameAuthor id={`${id}-author`} history={history} commit={source.commit} visit={visit} />
        <p class="frame-tools">
          {hasMore && (
            <a class="frame-more" href={`${currentPageWith(visit, { wide_frame: isWide ? null : number })}#${id}`}>
              {isWide ? 'Show fewer lines' : 'Show more lines'}
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
