import { createInterface } from 'node:readline/promises'
import { complain } from '../io/terminal.js'

interface Terminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean }
  output: NodeJS.WritableStream
}

/** Asks whoever sits there; nobody, and whoever leaves at the question, has not agreed. */
export async function agreed({ input, output }: Terminal): Promise<boolean> {
  if (!input.isTTY) {
    complain('There is nobody to ask here: faultboard init --yes writes it.')
    return false
  }
  const terminal = createInterface({ input, output, terminal: true })
  try {
    const answer = await terminal.question('Write this? [y/N] ')
    return /^y(es)?$/i.test(answer.trim())
  } catch {
    // Ctrl+C and Ctrl+D.
    output.write('\n')
    return false
  } finally {
    terminal.close()
  }
}
