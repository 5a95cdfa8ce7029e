export { Mailer, type Mail, type MailServices } from './mailer.ts'
export { letter, type Letter } from './letter.ts'
