import type { Rendered } from '../define.js'

/** Stroke paths on a 16×16 grid. */
export const ICONS = {
  overview: 'M2 9.5 5.5 6l2.5 2.5L14 2.5M2 13.5h12',
  errors: 'M8 2.2 14.3 13H1.7ZM8 6.5v3M8 11.2v.3',
  analytics: 'M2.5 13.5v-5M6.2 13.5v-9M9.8 13.5v-6M13.5 13.5v-11',
  releases: 'M8 1.8 13.8 5v6L8 14.2 2.2 11V5ZM2.4 5.1 8 8.2l5.6-3.1M8 8.2v5.8',
  notifications: 'M4 11.5V7a4 4 0 0 1 8 0v4.5l1.2 1H2.8ZM6.8 14.2h2.4',
  settings: 'M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M9 3v3M4.5 10v3',
  runtime: 'M4.5 4.5h7v7h-7ZM6.5 2v2.5M9.5 2v2.5M6.5 11.5V14M9.5 11.5V14M2 6.5h2.5M2 9.5h2.5M11.5 6.5H14M11.5 9.5H14',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9ZM10.3 10.3l3.4 3.4',
  menu: 'M2 4h12M2 8h12M2 12h12',
  fold: 'M10 4 6 8l4 4',
  unfold: 'M6 4l4 4-4 4',
  copy: 'M5.5 5.5h8v8h-8ZM2.5 10.5v-8h8',
  help: 'M5.8 6a2.2 2.2 0 1 1 3.4 1.9c-.8.5-1.2.9-1.2 1.7M8 12v.3',
} as const

export type IconName = keyof typeof ICONS

/** Decorative icon next to a label. */
export function Icon(icon: { name: IconName } | { path: string }): Rendered {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={'path' in icon ? icon.path : ICONS[icon.name]} />
    </svg>
  )
}
