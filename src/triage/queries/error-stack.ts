import { type Frame, LIBRARY_MARK, parseFrame } from '../../model/stacks/backtrace.js'

/** A frame as the page shows it. */
export interface StackFrame extends Frame {
  /** `express`, `@nestjs/core`, `node:internal`; null for the host's own code. */
  library: string | null
}

/** The host's own frames one by one, and what lies between them together. */
export type StackPart =
  | { kind: 'own'; frame: StackFrame }
  | { kind: 'library'; frames: StackFrame[]; libraries: string[] }

/** The frames of a backtrace; `root` is the folder to which its paths are relative. */
export function stackFrames(backtrace: readonly string[], root: string): StackFrame[] {
  return backtrace.map((line) => {
    const frame = parseFrame(line, root)
    return { ...frame, library: frame.in_app ? null : libraryOf(frame) }
  })
}

/** Neighbouring frames of libraries as one part: `7 frames in express, node:internal`. */
export function stackParts(frames: readonly StackFrame[]): StackPart[] {
  const parts: StackPart[] = []
  for (const frame of frames) {
    const last = parts.at(-1)
    if (frame.library === null) parts.push({ kind: 'own', frame })
    else if (last?.kind === 'library') {
      last.frames.push(frame)
      if (!last.libraries.includes(frame.library)) last.libraries.push(frame.library)
    } else parts.push({ kind: 'library', frames: [frame], libraries: [frame.library] })
  }
  return parts
}

function libraryOf({ file, line }: Frame): string {
  if (file === null) return 'native code'
  if (line.endsWith(LIBRARY_MARK)) return /^[a-z][\w-]*:\/\/([^/]+)/i.exec(file)?.[1] ?? file
  if (file.startsWith('node:')) return file.startsWith('node:internal') ? 'node:internal' : file
  // The last one, because pnpm keeps packages at node_modules/.pnpm/express@4/node_modules/express.
  const inside = `/${file}`.slice(`/${file}`.lastIndexOf('/node_modules/') + '/node_modules/'.length)
  if (inside === '' || !`/${file}`.includes('/node_modules/')) return 'native code'
  const [first = '', second = ''] = inside.split('/')
  return first.startsWith('@') && second !== '' ? `${first}/${second}` : first
}
