import { looksRandom } from './secret-paths.js'
import type { IsSensitiveKey } from './sensitive-keys.js'

const NAME = '[\\p{ID_Continue}.-]'
/** Requires a digit; otherwise the word before a name would match the name as its value. */
const VALUE = '(?=[^\\s\\d]{0,100}\\d)[\\w+=~](?:[\\w+/=~.-]|\\x27(?=\\w)){7,}'
/** `token S`, `API key provided: S`, `AUTH PLAIN S`, `Password [S]`, `**password**: S`, `| secret | S |`, `pin -> S`. */
const NAME_AND_VALUE = new RegExp(
  `(?<!${NAME})(?:(\\p{Alphabetic}{2,20}) )?(${NAME}{2,80})((?: (?:is|was|of|provided|given|received|supplied|entered|used|default|login|plain|xoauth2|to)){0,2}(?: {1,2}|(?=[^\\p{ID_Continue} ]|_)(?!_\\p{Alphabetic})))((?:->|[*_|:=>\`"'[({<]| (?=[*|:=>"'[({<-])){0,6} ?)(${VALUE})(?![(\\w/])`,
  'giu',
)
/** Random text of this length is not a word. A separator before it allows shorter values. */
const MIN_SECRET_LENGTH = 12

/**
 * Replaces random words directly after the name of a secret with `filtered`. Passwords that a person could have
 * chosen are left to `withoutChosenPasswords`.
 */
export function withoutSecretsInSentences(text: string, filtered: string, isSensitiveKey: IsSensitiveKey): string {
  return text.replace(
    NAME_AND_VALUE,
    (part, before: string | undefined, name: string, _words: string, separator: string, value: string) => {
      if (!isGenerated(value, separator.trim() === '' ? MIN_SECRET_LENGTH : 0)) return part
      const hasSensitiveName = isSensitiveKey(name) || (before !== undefined && isSensitiveKey(`${before} ${name}`))
      return hasSensitiveName ? part.slice(0, -value.length) + filtered : part
    },
  )
}

function isGenerated(value: string, minLength: number): boolean {
  if (value.length < minLength || !/\d/.test(value) || !looksRandom(value)) return false
  // A path is random only if it looks like Base64.
  return !value.includes('/') || (/^[\w+/=-]{16,}$/.test(value) && /[A-Z]/.test(value) && /[a-z]/.test(value))
}
