import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { hashPassword as createHash } from '../../model/people/derive-key.js'
import { usageError } from '../arguments.js'
import { defineCommand } from '../command.js'
import { jsonLine, print } from '../io/terminal.js'

/** A much longer password would not fit into an Authorization header. */
const MAX_PASSWORD_BYTES = 1024

export const hashPassword = defineCommand({
  name: 'hash-password',
  summary: 'Create the password_hash of an account in dashboard_users',
  text: 'Prompts for the password without showing it, or reads one line from standard input. A password is never an argument,\nbecause arguments are visible to every user on the machine.',
  examples: ['faultboard hash-password', 'printf %s "$PASSWORD" | faultboard hash-password'],
  flags: { json: { text: 'Print { "password_hash" } as JSON' } },
  async run({ json }) {
    const password = process.stdin.isTTY ? await askTwice() : await readInput()
    if (password.trim() === '') throw usageError('The password is empty')
    if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES) throw tooLong()
    const password_hash = await createHash(password)
    print(json ? jsonLine({ password_hash }) : password_hash)
    return 0
  },
})

async function askTwice(): Promise<string> {
  const [password, repeated] = await askHidden(['Password: ', 'Repeat the password: '])
  if (password !== repeated) throw usageError('The passwords differ')
  return password ?? ''
}

/** Prompts on standard error, so that standard output contains only the hash. Does not echo the input. */
async function askHidden(questions: readonly string[]): Promise<string[]> {
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const reader = createInterface({ input: process.stdin, output: hidden, terminal: true })
  // Queues lines that arrive before their prompt.
  const lines = reader[Symbol.asyncIterator]()
  try {
    const answers: string[] = []
    for (const question of questions) {
      process.stderr.write(question)
      const line = await lines.next()
      process.stderr.write('\n')
      if (line.done) throw usageError('No password entered')
      answers.push(line.value)
    }
    return answers
  } finally {
    reader.close()
  }
}

/** Returns the first line. Rejects further lines, because they indicate a mistake, such as a whole file. */
async function readInput(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk
    if (text.length > 2 * MAX_PASSWORD_BYTES) throw tooLong()
  }
  const [password = '', ...rest] = text.replace(/\r?\n$/, '').split(/\r?\n/)
  if (rest.length > 0) throw usageError('The password must be one line')
  return password
}

function tooLong(): Error {
  return usageError(`The password is longer than ${MAX_PASSWORD_BYTES} bytes. Choose a shorter one`)
}
