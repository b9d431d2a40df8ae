import { MAX_NAME_LENGTH } from '../../triage/commands/change-errors.js'
import type { Rendered, Visit } from '../define.js'

/** Passes the selected application and environment to an action for its redirect. */
export function ApplicationField({ visit: { application_id, environment } }: { visit: Visit }): Rendered {
  return (
    <>
      {application_id !== null && <input type="hidden" name="application_id" value={String(application_id)} />}
      {environment !== null && <input type="hidden" name="environment" value={environment} />}
    </>
  )
}

/** Form that posts to an action. */
export function ActionForm({
  visit,
  to,
  submit,
  primary,
  children,
}: {
  visit: Visit
  to: string
  submit: string
  primary?: boolean
  children?: Rendered
}): Rendered {
  return (
    <form method="post" action={`${visit.base}${to}`}>
      <ApplicationField visit={visit} />
      {children}
      <button type="submit" class={primary ? 'primary' : undefined}>
        {submit}
      </button>
    </form>
  )
}

interface FieldProps {
  name: string
  label: string
  value?: string | undefined
  required?: boolean
  type?: string
  min?: number
  max?: number
  maxlength?: number
  placeholder?: string
  /** Id of a datalist with suggestions. */
  list?: string
  /** Id of an element with a hint. */
  'aria-describedby'?: string
}

export function TextField({ name, label, ...input }: FieldProps): Rendered {
  return (
    <label>
      <span>{label}</span>
      <input name={name} type="text" {...input} />
    </label>
  )
}

/** Collapsed field for the name of a person who uses the shared account. Other names are known from the sign-in. */
export function ActorNameField({
  visit,
  ...field
}: Pick<FieldProps, 'name' | 'required'> & { visit: Visit }): Rendered {
  if (!visit.identity?.is_shared) return null
  const name = actorName(visit)
  return (
    <details>
      <summary>
        {'as '}
        <bdi>{name}</bdi>
        {' · change'}
      </summary>
      <TextField {...field} label="Your name" value={name} maxlength={MAX_NAME_LENGTH} />
    </details>
  )
}

/** Name of the signed-in person, or the name that a person last entered for the shared account. */
export function actorName({ identity, user, actor_name }: Visit): string {
  return (identity?.is_shared && actor_name) || user
}

export function TextArea({ name, label, required, maxlength }: FieldProps): Rendered {
  return (
    <label>
      <span>{label}</span>
      <textarea name={name} rows={3} required={required} maxlength={maxlength} />
    </label>
  )
}

export function SelectField({
  name,
  label,
  options,
  value,
}: {
  name: string
  label: string
  options: readonly (readonly [value: string, text: string])[]
  value?: string | undefined
}): Rendered {
  return (
    <label>
      <span>{label}</span>
      <select name={name}>
        {options.map(([option, text]) => (
          <option value={option} selected={option === (value ?? '')}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
