export { Captcha, captchaAnswer } from './captcha.ts'
/** For the declarations of endpoints that ask the guard. */
export const needsCaptchaAnswer = { 409: 'It was taken for spam, and a captcha is to be solved' }

export { SignInCaptcha } from './sign-in-captcha.ts'
export { SpamGuard, type Said } from './guard.ts'
