import type { Cause } from '../../../../model/event.js'
import type { FrameVariables } from '../../../../model/stacks/frame-variables.js'
import type { StackFrame, StackPart } from '../../../../triage/queries/error-stack.js'
import type { Rendered } from '../../../define.js'
import { FrameVariableList } from '../../../ui/values/variables.js'
import { FrameSource, type ShownSource } from './frame-source.js'

/** Stack with grouped frames and their source and variables. */
export interface ShownStack {
  parts: readonly StackPart[]
  sources: ReadonlyMap<StackFrame, ShownSource>
  variables: ReadonlyMap<StackFrame, FrameVariables>
  lines: readonly string[]
}

export interface ShownCause {
  cause: Cause
  stack: ShownStack
  causes: readonly ShownCause[]
}

/** Maximum number of expanded parts. An infinite recursion has many parts. */
const MAX_OPEN_PARTS = 10

/** Frames of one stack, one line each. `open` expands the first in-app frame. */
export function Frames({ stack, open = false }: { stack: ShownStack; open?: boolean }): Rendered {
  const shown = stack.parts.slice(0, MAX_OPEN_PARTS)
  const more = stack.parts.slice(MAX_OPEN_PARTS)
  const openPart = open ? shown.find((part) => part.kind === 'own') : undefined
  return (
    <div class="frames">
      <PartList parts={shown} stack={stack} openPart={openPart} />
      {more.length > 0 && (
        <details class="part library frame-rest">
          <summary>{`Show ${more.reduce((sum, part) => sum + frameCount(part), 0)} more frames`}</summary>
          <PartList parts={more} stack={stack} />
        </details>
      )}
    </div>
  )
}

function PartList({
  parts,
  stack,
  openPart,
}: {
  parts: readonly StackPart[]
  stack: ShownStack
  openPart?: StackPart | undefined
}): Rendered {
  return (
    <ol>
      {parts.map((part) => (
        <li class="frame-item">
          {part.kind === 'own' ? (
            <OwnFrame
              frame={part.frame}
              source={stack.sources.get(part.frame)}
              variables={stack.variables.get(part.frame)}
              open={part === openPart || stack.sources.get(part.frame)?.isWide === true}
            />
          ) : (
            <LibraryFrames part={part} />
          )}
        </li>
      ))}
    </ol>
  )
}

function OwnFrame({
  frame,
  source,
  variables,
  open,
}: {
  frame: StackFrame
  source: ShownSource | undefined
  variables: FrameVariables | undefined
  open: boolean
}): Rendered {
  if (!source && !variables) {
    return (
      <div class="part own">
        <FrameLine frame={frame} />
      </div>
    )
  }
  return (
    <details class="part own" open={open}>
      <summary>
        <FrameLine frame={frame} />
      </summary>
      {source && <FrameSource shown={source} />}
      {variables && <FrameVariableList variables={variables} open />}
    </details>
  )
}

function LibraryFrames({ part }: { part: StackPart & { kind: 'library' } }): Rendered {
  const { frames, libraries } = part
  const names = libraries.length > 3 ? `${libraries.slice(0, 3).join(', ')} and more` : libraries.join(', ')
  return (
    <details class="part library">
      <summary>{`${frames.length} ${frames.length === 1 ? 'frame' : 'frames'} in ${names}`}</summary>
      <ol>
        {frames.map((frame) => (
          <li class="part">
            <FrameLine frame={frame} />
          </li>
        ))}
      </ol>
    </details>
  )
}

function FrameLine({ frame }: { frame: StackFrame }): Rendered {
  const { function_name, file, line_number, column, line } = frame
  const position = [line_number, column].filter((part) => part !== null).join(':')
  return (
    <code class="frame-line" title={line}>
      <span class="function">{function_name ?? '(anonymous)'}</span>
      {file !== null && <FilePosition path={`${file}${position && `:${position}`}`} />}
    </code>
  )
}

/** Keeps the file name and the position if the folder is too long for the line. */
function FilePosition({ path }: { path: string }): Rendered {
  const nameStart = path.lastIndexOf('/') + 1
  return (
    <span class="file">
      <span class="file-folder">{path.slice(0, nameStart)}</span>
      <span class="file-name">{path.slice(nameStart)}</span>
    </span>
  )
}

function frameCount(part: StackPart): number {
  return part.kind === 'own' ? 1 : part.frames.length
}
