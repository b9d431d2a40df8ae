import { type Frame, LIBRARY_MARK, parseFrame } from '../../model/stacks/backtrace.js'

/** Stack frame as shown on the page. */
export interface StackFrame extends Frame {
  /** Package such as `express`, `@nestjs/core` or `node:internal`. Null for in-app code. */
  library: string | null
}

/** Single in-app frame, or a sequence of library frames. */
export type StackPart =
  | { kind: 'own'; frame: StackFrame }
  | { kind: 'library'; frames: StackFrame[]; libraries: string[] }

/** Parses the frames of a backtrace. `root` is the folder that paths are relative to. */
export function stackFrames(backtrace: readonly string[], root: string): StackFrame[] {
  return backtrace.map((line) => {
    const frame = parseFrame(line, root)
    return { ...frame, library: frame.in_app ? null : libraryName(frame) }
  })
}

/** Groups consecutive library frames: `7 frames in express, node:internal`. */
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

function libraryName({ file, line }: Frame): string {
  if (file === null) return 'native code'
  if (line.endsWith(LIBRARY_MARK)) return /^[a-z][\w-]*:\/\/([^/]+)/i.exec(file)?.[1] ?? file
  if (file.startsWith('node:')) return file.startsWith('node:internal') ? 'node:internal' : file
  // Uses the last node_modules folder. With pnpm, paths contain node_modules/.pnpm/express@4/node_modules/express.
  const packagePath = `/${file}`.slice(`/${file}`.lastIndexOf('/node_modules/') + '/node_modules/'.length)
  if (packagePath === '' || !`/${file}`.includes('/node_modules/')) return 'native code'
  const [first = '', second = ''] = packagePath.split('/')
  return first.startsWith('@') && second !== '' ? `${first}/${second}` : first
}
