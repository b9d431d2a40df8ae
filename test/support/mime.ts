/** Parsed mail with the parts of MIME that the tests need. */
export interface ParsedMail {
  headers: Readonly<Record<string, string>>
  /** Header names in their original case and order, to detect injected headers. */
  names: readonly string[]
  text: string
  html: string
}

export function parseMail(raw: string): ParsedMail {
  const { headers, names, body } = parsePart(raw)
  const boundary = /boundary="?([^";]+)/.exec(headers['content-type'] ?? '')?.[1] ?? ''
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((text) => parsePart(text.replace(/^\r\n/, '')))
  const bodyOfType = (type: string) => {
    const found = parts.find(({ headers }) => headers['content-type']?.startsWith(type))
    return found ? decodeBody(found.body, found.headers['content-transfer-encoding'] ?? '') : ''
  }
  return { headers, names, text: bodyOfType('text/plain'), html: bodyOfType('text/html') }
}

function parsePart(raw: string): { headers: Record<string, string>; names: string[]; body: string } {
  const end = raw.indexOf('\r\n\r\n')
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const pairs = lines.map((line) => /^([^:]+):\s*(.*)$/s.exec(line) ?? ['', line, ''])
  return {
    headers: Object.fromEntries(pairs.map(([, name = '', value = '']) => [name.toLowerCase(), decodeWords(value)])),
    names: pairs.map(([, name = '']) => name),
    body: raw.slice(end + 4),
  }
}

function decodeBody(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8')
  return encoding === 'quoted-printable' ? decodeQuotedPrintable(body.replace(/=\r\n/g, '')) : body
}

function decodeWords(value: string): string {
  return value
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?(.*?)\?=/gi, (_, kind: string, text: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64').toString('utf8')
        : decodeQuotedPrintable(text.replaceAll('_', ' ')),
    )
}

function decodeQuotedPrintable(text: string): string {
  const bytes = text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
