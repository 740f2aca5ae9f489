# House style of all charts: quiet axes, light grid, texts come with the chart.
set encoding utf8
set border 3 lc rgb '#66727f' lw 0.8
set tics nomirror scale 0.4 textcolor rgb '#66727f' font ',12'
set grid ytics lc rgb '#e6e9ed' lw 1 lt 1
set grid back
unset key
unset colorbox
set style fill solid 1.0 noborder
