import { type Card, type CardNotice, cardSummary, type Item, renderCard } from '../content/card.js'
import type { Links } from '../content/dashboard-links.js'
import { formatQuantity } from '../content/format-text.js'
import { oneLine } from '../content/safe-text.js'
import { type Html, html } from './html-template.js'
import {
  buttonLink,
  MAX_SUBJECT_LENGTH,
  type Mail,
  MONO_FONT,
  recipientsNote,
  renderMailLayout,
  severityBadge,
  styles,
  textLink,
} from './mail-layout.js'

/** Renders a notification about one or more errors, or a test. */
export function noticeMail(notice: CardNotice, links: Links, time_zone: string): Mail {
  const card = renderCard(notice, links, time_zone)
  const subject = mailSubject(card)
  const footer = footerLines(notice, card, links)
  return {
    subject,
    text: `${[...textLines(card), ...footer].join('\n')}\n`,
    html: renderMailLayout({
      subject,
      preview: cardSummary(card, MAX_SUBJECT_LENGTH),
      source: card.source,
      body: mailBody(card),
      footer: html`${footer.join(' ')}`,
    }),
  }
}

/** `[shop (production)] New error: TypeError: x is not a function` */
function mailSubject({ source, title, type, message }: Card): string {
  return oneLine(
    `[${source}] ${[title, type, type === null ? null : message].filter(Boolean).join(': ')}`,
    MAX_SUBJECT_LENGTH,
  )
}

function textLines(card: Card): string[] {
  const { title, source, type, message, facts, items, more, url } = card
  return [
    `${title} in ${source}`,
    '',
    ...(type === null ? [] : [type]),
    ...(message === null ? [] : [message, '']),
    ...items.flatMap((item) => [
      `- ${item.severity}: ${item.title}: ${item.type}: ${item.message}`,
      ...(item.url === null ? [] : [`  ${item.url}`]),
    ]),
    ...(more > 0 ? [`- and ${formatQuantity(more, 'other')}`, ''] : []),
    ...facts.map(({ label, value }) => `${`${label}:`.padEnd(13)}${value}`),
    ...(url === null ? [] : ['', url]),
    '',
    '-- ',
  ]
}

function mailBody(card: Card): Html {
  const hasSingleError = card.type !== null
  return html`<p style="margin:0 0 14px">${hasSingleError ? severityBadge(card.severity) : null} <strong ${styles(['text'], 'font-size:15px')}>${card.title}</strong></p>
${hasSingleError ? html`<h1 ${styles(['text'], 'margin:0 0 12px;font-size:20px;line-height:27px;overflow-wrap:anywhere')}>${card.type}</h1>` : null}
${card.message === null ? null : hasSingleError ? codeBlock(card.message) : html`<p ${styles(['text'], 'margin:0;overflow-wrap:anywhere')}>${card.message}</p>`}
${card.items.map(itemRow)}
${card.more > 0 ? html`<p ${styles(['muted'], 'margin:16px 0 0')}>and ${formatQuantity(card.more, 'other')}</p>` : null}
${card.facts.length > 0 ? factTable(card) : null}
${buttonLink(card.url, 'Open in Faultboard')}`
}

function codeBlock(text: string): Html {
  const style = `margin:0;padding:12px 14px;border-radius:6px;font-family:${MONO_FONT};font-size:13px;line-height:19px`
  return html`<div ${styles(['sunken', 'text'], `${style};white-space:pre-wrap;overflow-wrap:anywhere`)}>${text}</div>`
}

/** Omits the severity, which the badge already shows. */
function factTable({ facts }: Card): Html {
  const rows = facts.filter(({ label }) => label !== 'Severity')
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin-top:16px;font-size:14px;line-height:20px">${rows.map(
    ({ label, value, code }) => html`
<tr><td valign="top" width="104" ${styles(['muted'], 'padding:4px 12px 4px 0')}>${label}</td><td valign="top" ${styles(['text'], `padding:4px 0;overflow-wrap:anywhere${code ? `;font-family:${MONO_FONT};font-size:13px` : ''}`)}>${value}</td></tr>`,
  )}
</table>`
}

function itemRow({ title, severity, type, message, url }: Item): Html {
  return html`<div ${styles(['line'], 'padding:14px 0;border-width:1px 0 0;border-style:solid')}>
<div style="margin-bottom:6px">${severityBadge(severity)} <span ${styles(['muted'], 'font-size:13px')}>${title}</span></div>
<div style="overflow-wrap:anywhere">${textLink(url, type, 'font-weight:600')}</div>
<div ${styles(['muted'], `font-family:${MONO_FONT};font-size:13px;line-height:19px;overflow-wrap:anywhere`)}>${message}</div>
</div>`
}

function footerLines({ event }: CardNotice, { source, type }: Card, links: Links): string[] {
  if (event === 'assigned') return [`You receive this email because errors in ${source} were assigned to you.`]
  const canSilence = type !== null && links.page('') !== null
  return [recipientsNote(source), ...(canSilence ? ['Snooze or mute the error to stop notifications about it.'] : [])]
}
