/** What a mail says; who sends it to whom is added where it is sent. */
export interface Mail {
  subject: string
  text: string
  html: string
}
