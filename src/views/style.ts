/** The one stylesheet. By day iron blue on pale stone, by night lamplight; the column is the gate that the mark shows. */
import { raw } from './html.ts';

const css = `
:root{color-scheme:light dark;
--sky:#dce3ed;--ground:#f1f0ec;--panel:#fdfdfc;--soft:#f1f3f6;--ink:#152033;--muted:#4f5a6c;--line:#d5dae2;--edge:#737e8e;
--strong:#1d3157;--over:#2b467a;--on:#fff;--link:#1f4a94;--lamp:#f4b942;--glow:#f4b94233;--wall:#1d3157;--bad:#a3212b;--warn:#fcf0ef;--new:#fdf0cf;
--shade:0 1px 2px #15203312,0 18px 48px -20px #15203340}
@media (prefers-color-scheme:dark){:root{
--sky:#090d15;--ground:#151b27;--panel:#181f2c;--soft:#202939;--ink:#edf0f6;--muted:#a9b3c4;--line:#2c3648;--edge:#7a869c;
--strong:#f2c26b;--over:#ffd68c;--on:#211703;--link:#f2c887;--lamp:#ffc95c;--glow:#ffc95c24;--wall:#3a4a6b;--bad:#ff9d94;--warn:#34212a;--new:#4a3a17;
--shade:0 1px 2px #0006,0 18px 48px -16px #000a}}
*,::before,::after{box-sizing:border-box}[hidden]{display:none!important}
html{background:var(--ground);font:100%/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;align-items:center;padding:clamp(.75rem,7vh,4.5rem) .75rem 0;
background:linear-gradient(var(--sky),var(--ground) 34rem) no-repeat;color:var(--ink);overflow-wrap:anywhere}
main{width:100%;max-width:26rem;padding:2.25rem clamp(1.125rem,6vw,2.25rem);border:1px solid var(--line);
border-radius:50% 50% .875rem .875rem/6.5rem 6.5rem .875rem .875rem;
background:radial-gradient(16rem 9rem at 50% 0,var(--glow),transparent) var(--panel);box-shadow:var(--shade)}
main.wide{max-width:64rem;border-radius:.875rem}
header{text-align:center;margin-bottom:1.75rem}
.mark{display:block;margin:0 auto 1.125rem}
.marks{display:flex;justify-content:center;gap:1rem;margin-bottom:1.125rem}.logo{border-radius:.5rem;background:#fff;object-fit:contain}
.wall{fill:var(--wall)}.lamp{fill:var(--lamp)}
.icon{flex:none;fill:none;stroke:currentColor;stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round}
h1{margin:0;font-size:1.5rem;line-height:1.25;font-weight:650;letter-spacing:-.015em}
h2{margin:0 0 .5rem;font-size:1rem;line-height:1.4;font-weight:650}
h3{margin:1.25rem 0 .375rem;font-size:.875rem;font-weight:650}
p{margin:0 0 1rem}p:last-child{margin-bottom:0}
header p{margin:.5rem 0 0;color:var(--muted)}h1,header p,.button{text-wrap:balance}header:last-child{margin:0}
a{color:var(--link);text-underline-offset:.2em;text-decoration-thickness:1px}a:hover{text-decoration-thickness:2px}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
b,code,small{unicode-bidi:isolate}
code,pre{direction:ltr;font:.875rem/1.6 ui-monospace,"Cascadia Code",Menlo,Consolas,monospace}
.muted{color:var(--muted)}.small{font-size:.875rem}
.hush{position:absolute;width:1px;height:1px;margin:-1px;padding:0;border:0;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
label{display:block;margin-bottom:.375rem;font-weight:600}
.field{margin-bottom:1.25rem}.slot{position:relative}.field .small{margin:.375rem 0 0}
.wrong{margin:0 0 .375rem;color:var(--bad);font-weight:600}
input{width:100%;min-height:3rem;padding:.625rem .875rem;border:1px solid var(--edge);border-radius:.5rem;background:var(--panel);color:inherit;font:inherit}
input:focus-visible{outline-offset:0;border-color:var(--link)}
input[aria-invalid]{border:2px solid var(--bad)}
.slot.open input{padding-inline-end:5rem}
.reveal{position:absolute;inset-block:2px;inset-inline-end:2px;min-width:4.5rem;border:0;border-radius:.4rem;background:none;color:var(--link);font:inherit;font-weight:600;cursor:pointer}
.reveal:hover{text-decoration:underline}.reveal:focus-visible{outline-offset:-3px}
.actions{display:grid;gap:.625rem;margin-top:1.75rem}
.pair{grid-template-columns:repeat(auto-fit,minmax(min(7rem,100%),1fr))}
.button{display:flex;align-items:center;justify-content:center;gap:.5rem;width:100%;min-height:3rem;padding:.625rem 1rem;border:1px solid var(--edge);border-radius:.5rem;
background:var(--panel);color:var(--ink);font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
.button:hover{background:var(--soft);border-color:var(--ink)}
.strong{border-color:transparent;background:var(--strong);color:var(--on)}.strong:hover{border-color:transparent;background:var(--over)}
.quiet{border-color:transparent;background:none;color:var(--link)}.quiet:last-child{margin-bottom:-.875rem}form+p,form+details,.actions+p,form:has(.quiet:last-child)+form{margin-top:1.75rem}
.beyond{text-align:center}.beyond a,.field .small a{display:inline-block;padding-block:.25rem}dl+form,figure+form{margin-top:1rem}
.note{margin-bottom:1.5rem;padding:.875rem 1rem;border:1px solid var(--line);border-radius:.5rem;background:var(--soft)}
.problem{border:2px solid var(--bad);background:var(--warn)}.problem h2{margin:0 0 .125rem}.problem a{color:var(--bad);font-weight:600}
.who{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem .75rem;margin-bottom:1.5rem}
.who>div,.row>span:not(.face){flex:1 1 9rem;min-width:0}
.who b,.row b{display:block;font-weight:600;line-height:1.35}
.who a{padding-block:.625rem}
.face{flex:none;display:grid;place-items:center;width:2.5rem;height:2.5rem;border-radius:50% 50% .375rem .375rem;background:var(--wall);color:#fff;font-weight:600;text-transform:uppercase}
.blank{border:1px dashed var(--edge);background:none;color:var(--muted)}
.row{justify-content:flex-start;gap:.875rem;padding:.75rem .875rem;text-align:start}.row small{color:var(--muted);font-size:.875rem;font-weight:400}
.list{margin:0;padding:0;list-style:none}
section{padding:1.125rem 0;border-top:1px solid var(--line)}
section h2{display:flex;gap:.625rem;align-items:center}section h2 .icon{color:var(--muted)}
.list li,.where{padding-block:.1875rem;padding-inline-start:1.875rem}
.new{display:inline-block;padding:0 .4375rem;border:1px solid transparent;border-radius:1rem;background:var(--new);font-size:.75rem;font-weight:600;line-height:1.5}
dl,dd:last-child,.marks .mark{margin:0}dl+p{margin-top:.75rem}.tag+p{margin-top:.375rem}.actions+section{margin-top:1.75rem}dt{color:var(--muted);font-size:.875rem}dd{margin:0 0 .75rem}
.claims{display:grid;grid-template-columns:5.5rem 1fr;gap:0 .75rem;align-content:start;align-items:baseline}.claims dt{color:inherit;font-weight:600}.claims code{font-weight:inherit}.claims dd{margin-bottom:.625rem}.claims small{display:block;color:var(--muted)}
.beside{display:flex;align-items:center;justify-content:space-between;gap:.75rem}
details{border-top:1px solid var(--line)}
summary{min-height:2.75rem;padding:.75rem 0 .375rem;color:var(--link);font-weight:600;cursor:pointer}
.tag{padding:.0625rem .4375rem;-webkit-box-decoration-break:clone;box-decoration-break:clone;border:1px solid var(--line);border-radius:.375rem;background:var(--soft)}
figure{position:relative;margin:0;border:1px solid var(--line);border-radius:.5rem;background:var(--soft)}figcaption{padding:.75rem 1rem;padding-inline-end:6rem;border-bottom:1px solid var(--line);font-size:.875rem;font-weight:600;line-height:1.25rem}
pre{margin:0;padding:1rem;overflow:auto;overflow-wrap:normal;border-radius:0 0 .5rem .5rem}
.k{color:var(--link)}.v{color:var(--muted)}
.copy{flex:none;width:auto;min-height:2.75rem;padding:.25rem .75rem;font-size:.875rem}figure .copy{position:absolute;top:0;inset-inline-end:0;border-color:transparent;background:none;color:var(--link)}
.cols{display:grid;gap:1.5rem 2rem;grid-template-columns:repeat(auto-fit,minmax(min(24rem,100%),1fr))}.cols>*{min-width:0;align-self:start}
footer{display:flex;flex-wrap:wrap;justify-content:center;gap:0 1.25rem;width:100%;max-width:26rem;margin-top:auto;padding:1rem 0 1.25rem;color:var(--muted);font-size:.875rem}
select{max-width:100%;min-height:2.75rem;padding:.25rem .5rem;border:1px solid var(--edge);border-radius:.5rem;background:var(--panel);color:var(--ink);font:inherit}
.choice{gap:.25rem}.choice .button{width:auto;min-height:2.75rem;padding:.25rem .625rem;margin:0}
[dir=rtl] .forth{transform:scaleX(-1)}
footer>*{display:inline-flex;align-items:center;min-height:2.75rem}footer a{color:inherit}
@media (prefers-reduced-motion:no-preference){.button{transition:background-color .12s,border-color .12s}}
@media (forced-colors:active){.wall{fill:CanvasText}.lamp{fill:Canvas}.strong,.new,.face{border:1px solid}.strong{border-width:3px}}
`;

export const stylesheet = raw(css.replaceAll('\n', ''));
