/**
 * Options and fields are defined in snake_case and accepted in camelCase too. Only known names are converted: the keys
 * of tags and context belong to the host.
 */

export type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name

/** Accepts each field in both spellings. A required field is required in one of them. */
export type AnyCase<T> = BothSpellings<Omit<T, RequiredName<T>>> & OneSpelling<T, RequiredName<T>>

type BothSpellings<T> = T & { [Name in keyof T as CamelCase<Name>]?: T[Name] }

/** Names of required fields that have two spellings. */
type RequiredName<T> = {
  [Name in keyof T]-?: CamelCase<Name> extends Name ? never : Record<never, never> extends Pick<T, Name> ? never : Name
}[keyof T]

/** Each alternative lists both names, because the compiler only suggests names that all alternatives have. */
type OneSpelling<T, Names extends keyof T> = [Names] extends [never]
  ? unknown
  : (
        Names extends string
          ? (
              input:
                | ({ [Name in Names]: T[Name] } & { [Name in CamelCase<Names>]?: undefined })
                | ({ [Name in Names]?: undefined } & { [Name in CamelCase<Names>]: T[Names] }),
            ) => void
          : never
      ) extends (input: infer All) => void
    ? All
    : never

export function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Adds fields. Removes both spellings of each field first. */
export function replaceFields(target: object, changes: object): void {
  for (const name of Object.keys(changes)) {
    Reflect.deleteProperty(target, camelCase(name))
    Reflect.deleteProperty(target, snakeCase(name))
  }
  Object.assign(target, changes)
}

/** Canonical names by accepted name. */
export type AcceptedNames = ReadonlyMap<string, string>

export function acceptedNames(names: readonly string[]): AcceptedNames {
  return new Map(names.flatMap((name) => [[name, name] as const, [camelCase(name), name] as const]))
}

/** Converts the known names of an object to snake_case, which wins if both spellings have a value. */
export function toCanonicalNames<T extends object>(
  input: T,
  names: AcceptedNames,
): { fields: T; conflicts: readonly string[] } {
  const aliases = Object.keys(input).filter((key) => (names.get(key) ?? key) !== key)
  if (aliases.length === 0) return { fields: input, conflicts: [] }
  const fields = { ...input } as Record<string, unknown>
  const conflicts: string[] = []
  for (const alias of aliases) {
    const name = names.get(alias) as string
    const value = fields[alias]
    delete fields[alias]
    if (value === undefined) continue
    if (fields[name] === undefined) fields[name] = value
    else conflicts.push(`${name} and ${alias} are two spellings of one name: use one of them`)
  }
  return { fields: fields as T, conflicts }
}
