/** What the pages of the account need beside the stylesheet of all pages. */
import { raw } from '../html.ts';
import { meterStyle } from '../new-password.ts';

const css = `
.ways,.menu ul,.things{margin:0;padding:0;list-style:none}
.ways{display:grid;gap:.625rem}
.menu{margin-bottom:1.5rem}.menu details{border:1px solid var(--line);border-radius:.5rem;background:var(--soft)}
.menu summary{padding:.625rem 1rem}
.menu a{display:block;min-height:2.75rem;padding:.625rem 1rem;border-top:1px solid var(--line)}
.menu a.leave{width:fit-content;margin-inline-start:auto;padding-inline:0;border:0}
.menu a[aria-current]{font-weight:650;color:var(--ink);text-decoration:none}
.things>li{padding:1.125rem 0;border-top:1px solid var(--line)}.things>li:first-child{border-top:0;padding-top:0}
.things h2{margin-bottom:.25rem}.things form{margin-top:.75rem}
.things ul{margin:.25rem 0 .75rem;padding:0;list-style:none}.things li li{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem .75rem;min-height:2.75rem;padding-block:.375rem;border-bottom:1px solid var(--line)}.things li li>span{flex:1 1 6rem}.things li li .button{width:auto;min-height:2.75rem;padding-block:.25rem;margin-inline-start:auto}
.field select,textarea{width:100%;min-height:3rem;padding:.625rem .875rem;border:1px solid var(--edge);border-radius:.5rem;background:var(--panel);color:inherit;font:inherit}
.tick{display:flex;gap:.625rem;align-items:center;min-height:2.75rem}.tick input{flex:none;width:1.25rem;min-height:1.25rem;height:1.25rem;margin:0}.tick label{margin:0}
.button.bad{border-color:var(--bad);color:var(--bad)}
`;

export const accountStyle = raw(css.replaceAll('\n', '') + meterStyle.toString());
