import type { IsSensitiveKey } from './sensitive-keys.js'

const VALUE = `(?:"[^"\\n]*"?|'[^'\\n]*'?|[^\\s"'](?:[^\\s"']|'(?=\\w))*)`
/** `--password x` and `-storepass x`, but not "--password is missing". */
const NAMED_OPTION = new RegExp(
  `(?<![\\w-])(--?(\\p{Alphabetic}[\\p{ID_Continue}-]{1,60})[ \\t]{1,20})(?![\\s-]|(?:and|are|cannot|flag|has|is|must|needs?|not|option|or|requires?|should|was)(?![^\\s.,:;]))${VALUE}`,
  'giu',
)
/** `-u admin:S`, `--user=admin:S`. The ids of `-u 1000:1000` are not credentials. */
const USER_OPTION =
  /((?<=\s)(?:-u|-U|--user|--proxy-user)(?:[ \t]{0,20}|=)["']?(?!\d+:\d+\b)[^\s:"']{1,100}:)(?:[^\s"']|'(?=\w))+/g
/** Short options for a password mean other things in other programs. */
const SHORT_OPTIONS: readonly (readonly [program: RegExp, option: RegExp])[] = [
  [/\b(?:mysql\w*|mariadb[\w-]*|mycli|7z[ar]?)\b/, new RegExp(`((?<=[\\s"'])-p)(?!ass|ort|rint)(?![\\s"'-])${VALUE}`, 'g')],
  [/\b(?:sshpass|docker|podman|helm|mongo\w*|bcp|oc|az)\b/, new RegExp(`((?<=\\s)-p[ \\t]{0,20})(?!ass|ort|rint)(?![\\s-])(?!["']?[\\d.:/]+(?:[\\s"']|$))${VALUE}`, 'g')],
  [/\b(?:redis-cli|keydb-cli|valkey-cli)\b/, new RegExp(`((?<=\\s)-a[ \\t]{1,20})(?!-)${VALUE}`, 'g')],
  [/\b(?:sqlcmd|zip|unzip|bcp)\b/, new RegExp(`((?<=\\s)-P[ \\t]{0,20})(?!-)${VALUE}`, 'g')],
  [/\bopenssl\b/, new RegExp(`((?<=\\s)-k[ \\t]{1,20})(?!-)${VALUE}`, 'g')],
  [/\bhtpasswd\b/, new RegExp(`((?<=\\s)-[A-Za-z]{0,5}b[A-Za-z]{0,5}[ \\t]{1,20}\\S{1,200}[ \\t]{1,20}\\S{1,100}[ \\t]{1,20})${VALUE}`, 'g')],
  [/\bsmbclient\b/, new RegExp(`((?<=\\s)(?:-U|--user)[ \\t=]{0,20}["']?[^\\s%"']{1,100}%)${VALUE}`, 'g')],
  [/\bldap\w+\b/, new RegExp(`((?<=\\s)-w[ \\t]{0,20})(?!-)${VALUE}`, 'g')],
] // biome-ignore format: one program per line
const PROGRAM_HINT =
  /\b(?:mysql|mariadb|mycli|7z|sshpass|docker|podman|helm|mongo|bcp|redis-cli|keydb-cli|valkey-cli|sqlcmd|zip|unzip|ldap|openssl|htpasswd|smbclient|az )/

/** Replaces the values of options with a sensitive name with `filtered`. */
export function withoutOptionValues(text: string, filtered: string, isSensitiveKey: IsSensitiveKey): string {
  return text.replace(NAMED_OPTION, (part, start: string, name: string) =>
    isSensitiveKey(name) ? start + filtered : part,
  )
}

/** Replaces passwords in program-specific options with `filtered`. */
export function withoutProgramPasswords(text: string, filtered: string): string {
  let result = text
  if (text.includes('curl') || text.includes('wget') || text.includes('-user'))
    result = result.replace(USER_OPTION, `$1${filtered}`)
  if (PROGRAM_HINT.test(result))
    for (const [program, option] of SHORT_OPTIONS)
      if (program.test(result)) result = result.replace(option, `$1${filtered}`)
  return result
}

/** Longer items are free text, not programs or options. */
const MAX_ARGUMENT_LENGTH = 500

/** Returns true if an item of a list is a password: `['mysql', '-u', 'root', '-pS']`. The first item is the program. */
export function isSecretArgument(program: unknown, item: unknown, redactText: (text: string) => string): boolean {
  if (typeof item !== 'string' || item[0] !== '-' || typeof program !== 'string') return false
  if (program.length > MAX_ARGUMENT_LENGTH || item.length > MAX_ARGUMENT_LENGTH) return false
  return redactText(`${program} ${item}`) !== `${program} ${item}`
}
